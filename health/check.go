package health

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"
	"unique"
)

// Check says how an endpoint is probed and when the rule withdraws and restores it. Two equal
// checks of one address are one probe. The checks that reach this package are complete: every
// default has been filled in, so a zero field means zero.
type Check struct {
	Kind Kind // what is asked; nil: nothing can be, and every probe fails

	Interval time.Duration // from one probe to the next
	Timeout  time.Duration // of a whole probe, at most Interval

	Window int // how many results are remembered, 1 to 64
	Fall   int // failures in the window that withdraw
	Rise   int // successes in the window that restore

	Slow time.Duration // a success that takes longer is a failure; 0: none is
}

// Rule is the rule of this check, with its numbers brought into range: a window of 1 to 64, and
// thresholds of 1 to the window.
func (c Check) Rule() Rule {
	size := max(1, min(c.Window, windowMax))
	return Rule{Window: size, Fall: max(1, min(c.Fall, size)), Rise: max(1, min(c.Rise, size))}
}

// Timely gives a result as the check sees it: a success that took too long is a failure.
func (c Check) Timely(r Result) Result {
	if r.OK && c.Slow > 0 && r.Took > c.Slow {
		return Result{Cause: "slower than " + brief(c.Slow), Took: r.Took}
	}
	return r
}

// span is how far back a full window reaches.
func (c Check) span() time.Duration { return time.Duration(c.Rule().Window) * c.Interval }

// Next is the time until the rule could change the endpoint's verdict at the earliest, if every
// result from now on pointed that way. It is 0 when the latest results do not point to a change.
func (c Check) Next(e Endpoint) time.Duration {
	rule, left := c.Rule(), 0
	switch {
	case e.Verdict == Up && e.Failed > 0:
		left = rule.Fall - e.Failed
	case e.Verdict == Withdrawn && e.Succeeding > 0:
		left = rule.Rise - e.Succeeding
	case e.Verdict == Unknown && e.Failing > 0:
		left = rule.firstFall() - e.Failing
	default:
		return 0
	}
	return time.Duration(max(1, left)) * c.Interval
}

// fingerprint names the content of the check in a few characters, the same in every process. Fields
// at zero do not count, so that a field that a later version adds does not change old fingerprints.
func (c Check) fingerprint() string {
	h := sha256.New()
	add := func(field, value string) {
		if value != "" {
			fmt.Fprintf(h, "%s=%q\n", field, value)
		}
	}
	if c.Kind != nil {
		add("kind", c.Kind.String())
		c.Kind.tell(add)
	}
	span := func(field string, d time.Duration) {
		if d != 0 {
			add(field, d.String())
		}
	}
	span("interval", c.Interval)
	span("timeout", c.Timeout)
	add("window", number(c.Window))
	add("fall", number(c.Fall))
	add("rise", number(c.Rise))
	span("slow", c.Slow)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Target is one thing to probe. Name is the check's name in the config: it takes no part in probing,
// but it is the thread by which an edited check keeps the verdict that the old one had reached.
//
// Domain and Reference are for the brake, and take no part in probing either.
type Target struct {
	Address   netip.Addr
	Name      string
	Check     Check
	Domain    string // its failure domain, as a place: what may well fail together
	Reference bool   // nobody's endpoint: while it answers, failures are not ours
}

// Key is the identity of the target's probe.
func (t Target) Key() Key { return Key{t.Address, unique.Make(t.Check)} }

// Keys gives the keys of many targets. That is quicker than one by one when neighbouring targets share a check.
func Keys(targets []Target) []Key {
	keys := make([]Key, len(targets))
	for i := range targets {
		t := &targets[i]
		if i > 0 && t.Check == targets[i-1].Check {
			keys[i] = Key{t.Address, keys[i-1].check}
			continue
		}
		keys[i] = t.Key()
	}
	return keys
}

// Key tells probes apart: targets with the same key are probed once and share one endpoint. Very many keys have few
// checks, so a key is small.
type Key struct {
	Address netip.Addr
	check   unique.Handle[Check]
}

// Check is what is asked of the address. The zero Key has none.
func (k Key) Check() Check {
	if k.check == (unique.Handle[Check]{}) {
		return Check{}
	}
	return k.check.Value()
}

// Result is what one probe found.
type Result struct {
	OK    bool
	Cause string        // of a failure, in words: the same words for the same fault
	Took  time.Duration // from the start of the probe to its end
	Ours  bool          // it failed for want of something on this machine, and tells nothing of the endpoint

	Load   float64 // what the endpoint carries, where a report of a push check says so
	Loaded bool    // one does
}
