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
	return exactlyOne(object("a kind such as http, and interval, timeout, window, fall, rise", append(kinds, ruleFields()...)...), names...)
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
	}
}

// kindFields are the kinds of check, of which each check has one.
func kindFields() []field[Check] {
	return []field[Check]{
		kind(CheckHTTP, "An HTTP request on a new connection.", requestFields("80")...),
		kind(CheckHTTPS, "An HTTPS request on a new connection.", requestFields("443")...),
		kind(CheckTCP, "A TCP connection.", port("").required()),
		kind(CheckTLS, "A TLS handshake.", port("443"), host("Server name that the certificate must hold. Default: the address.")),
		kind(CheckDNS, "A DNS question.", port("53"),
			key("name", "Name that is asked for.", domain("a domain name such as ok.test"), func(c *Check) *string { return &c.Query }).required(),
			key("type", "Type that is asked for.", text("a type such as A or AAAA", `^[A-Z][A-Z0-9]{0,15}$`), func(c *Check) *string { return &c.QueryType }).or("A")),
		kind(CheckGRPC, "A question to the gRPC health service.", port("").required(),
			key("service", "Service whose health is asked for. Default: the server's as a whole.", anything("the name of a gRPC service"), func(c *Check) *string { return &c.Service })),
		kind(CheckExec, "A command with the exit codes of a monitoring plugin.",
			key("command", "The command and its arguments.", listOf("words", 1, anything("a word")), func(c *Check) *[]string { return &c.Command }).required()),
		kind(CheckICMP, "An ICMP echo request."),
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

func requestFields(ownPort string) []field[Check] {
	return []field[Check]{
		port(ownPort),
		key("method", "Method of the request.", words("GET", "HEAD", "OPTIONS", "POST"), func(c *Check) *string { return &c.Method }).or("GET"),
		key("path", "Path and query of the request.", text("a path that begins with /", `^/[!-~]*$`), func(c *Check) *string { return &c.Path }).or("/"),
		host("Host header, and server name for TLS. Default: the address."),
		key("status", "Status codes of a healthy answer, as 200-299 or 200,204,300-302.", statusForm(), func(c *Check) *string { return &c.Status }).or("200-299"),
		key("body", "A text that the body must hold. Default: any body.", freeText("a text", `^[\s\S]+$`), func(c *Check) *string { return &c.Body }),
	}
}

func port(own string) field[Check] {
	f := key("port", "Port that is probed.", number[uint16](1, 65535), func(c *Check) *uint16 { return &c.Port })
	if own == "" {
		return f
	}
	return f.or(own)
}

func host(doc string) field[Check] {
	return key("host", doc, text("a host name such as www.ok.test", `^[A-Za-z0-9_.:\[\]-]{1,255}$`), func(c *Check) *string { return &c.Host })
}

func statusForm() form[string] {
	const pattern = `^[1-5][0-9]{2}(-[1-5][0-9]{2})?(,[1-5][0-9]{2}(-[1-5][0-9]{2})?)*$`
	const noun = "status codes such as 200-299 or 200,204,300-302"
	code := of(number[int](100, 599), func(int, *string) {})
	read := code.read
	code.read = func(r *reader, n *node, to *string) {
		if read(r, n, to); !r.spoilt[n.path] {
			*to = n.text
		}
	}
	return either(text(noun, pattern), code)
}
