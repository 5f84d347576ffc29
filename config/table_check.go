package config

import "time"

func checksForm() form[[]Check] {
	return named("checks by name", ownName, func(n *node) Check { return Check{Name: n.name} }, checkForm())
}

func checkForm() form[Check] {
	kinds := kindFields()
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return exactlyOne(object("a kind such as http, and interval, timeout, window, fall, rise, slow", append(kinds, ruleFields()...)...), names...)
}

// ruleFields say how often a probe is made, and what its results mean.
func ruleFields() []field[Check] {
	count := number[int](1, 64)
	return []field[Check]{
		key("interval", "Time between two probes of one endpoint.", duration(10*time.Millisecond, 24*time.Hour),
			func(c *Check) *time.Duration { return &c.Interval }).or("10s"),
		key("timeout", "How long one probe may take, at most the interval. Default: half the interval.", duration(time.Millisecond, 24*time.Hour),
			func(c *Check) *time.Duration { return &c.Timeout }),
		key("window", "How many of the last results the rule looks at.", count, func(c *Check) *int { return &c.Window }).or("20"),
		key("fall", "Withdraw when this many of the window failed.", count, func(c *Check) *int { return &c.Fall }).or("10"),
		key("rise", "Restore when this many of the window succeeded.", count, func(c *Check) *int { return &c.Rise }).or("20"),
		key("slow", "A success that takes longer than this is a failure. Default: any that comes before the timeout is good.", duration(time.Millisecond, 24*time.Hour),
			func(c *Check) *time.Duration { return &c.Slow }),
	}
}

// kind is the field of one kind of check; its own fields are kept in the check itself.
func kind(k CheckKind, doc string, fields ...field[Check]) field[Check] {
	noun := "the keys of this kind of check"
	probe := object(noun, fields...)
	probe.fill = nil
	read := probe.read
	probe.read = func(r *reader, n *node, to *Check) {
		to.Kind = k
		read(r, n, to)
	}
	return key(string(k), doc, probe, func(c *Check) *Check { return c })
}
