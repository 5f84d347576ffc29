package health

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"time"
)

// Kind is the protocol that a check speaks.
type Kind uint8

const (
	// HTTP asks for a page and judges its status, and its text where the check has one.
	HTTP Kind = iota
	// HTTPS is HTTP over TLS, with the certificate verified.
	HTTPS
	// TCP connects and closes.
	TCP

	kinds // how many there are
)

// String is the word of the config for this kind.
func (k Kind) String() string {
	switch k {
	case HTTP:
		return "http"
	case HTTPS:
		return "https"
	case TCP:
		return "tcp"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind reads the word that [Kind.String] writes.
func ParseKind(word string) (Kind, error) {
	for k := range kinds {
		if k.String() == word {
			return k, nil
		}
	}
	return 0, fmt.Errorf("kind %q: not one of http, https, tcp", word)
}

// Check says how an endpoint is probed and when the rule withdraws and restores it. Two equal
// checks of one address are one probe. The checks that reach this package are complete: every
// default has been filled in, so a zero field means zero.
type Check struct {
	Kind   Kind
	Port   uint16
	Method string    // http, https; empty: GET
	Path   string    // http, https: path and query; empty: /
	Host   string    // http, https: Host header and TLS server name; empty: the address
	Body   string    // http, https: a text that the first 64 KB of the body hold; empty: any body
	Status StatusSet // http, https: the codes that are a success; the zero value: none is

	Interval time.Duration // from one probe to the next
	Timeout  time.Duration // of a whole probe, at most Interval

	Window int // how many results are remembered, 1 to 64
	Fall   int // failures in the window that withdraw
	Rise   int // successes in the window that restore
}

// Rule is the rule of this check, with its numbers brought into range: a window of 1 to 64, and
// thresholds of 1 to the window.
func (c Check) Rule() Rule {
	size := max(1, min(c.Window, windowMax))
	return Rule{Window: size, Fall: max(1, min(c.Fall, size)), Rise: max(1, min(c.Rise, size))}
}

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
	add := func(field, value, zero string) {
		if value != zero {
			fmt.Fprintf(h, "%s=%q\n", field, value)
		}
	}
	add("kind", c.Kind.String(), "")
	add("port", strconv.Itoa(int(c.Port)), "0")
	add("method", c.Method, "")
	add("path", c.Path, "")
	add("host", c.Host, "")
	add("body", c.Body, "")
	add("status", c.Status.String(), "")
	add("interval", c.Interval.String(), "0s")
	add("timeout", c.Timeout.String(), "0s")
	add("window", strconv.Itoa(c.Window), "0")
	add("fall", strconv.Itoa(c.Fall), "0")
	add("rise", strconv.Itoa(c.Rise), "0")
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Target is one thing to probe. Name is the check's name in the config: it takes no part in probing,
// but it is the thread by which an edited check keeps the verdict that the old one had reached.
type Target struct {
	Address netip.Addr
	Name    string
	Check   Check
}

// Key is the identity of the target's probe.
func (t Target) Key() Key { return Key{Address: t.Address, Check: t.Check} }

// Key tells probes apart: targets with the same key are probed once and share one endpoint.
type Key struct {
	Address netip.Addr
	Check   Check
}

// Result is what one probe found.
type Result struct {
	OK    bool
	Cause string        // of a failure, in words: the same words for the same fault
	Took  time.Duration // from the start of the probe to its end
}
