package sim

import (
	"net/netip"
	"time"

	"gslb/config"
	"gslb/health"
)

// endpoint is the double of a server that is probed. The zero value answers every probe well.
type endpoint struct {
	cause   string // why its probes fail, where they fail at once; empty: they do not
	hangs   bool
	pattern string // S and F in turns: which probes succeed; empty: as the others say
	turn    int
	delay   time.Duration // of its successes
}

// endpoints is every double by its address. One that is not there answers well.
type endpoints map[netip.Addr]endpoint

// probe answers one probe, and counts it. It stands where the server has [health.Outside.Probe].
func (es endpoints) probe(address netip.Addr, c health.Check) health.Result {
	e, ok := es[address]
	if !ok {
		return health.Result{OK: true}
	}
	succeeds := e.cause == "" && !e.hangs
	if e.pattern != "" {
		succeeds = e.pattern[e.turn%len(e.pattern)] == 'S'
		e.turn++
		es[address] = e
	}
	switch {
	case succeeds && e.delay > c.Timeout, !succeeds && e.hangs:
		return health.Result{Cause: "timeout after " + config.Duration(c.Timeout), Took: c.Timeout}
	case succeeds:
		return c.Timely(health.Result{OK: true, Took: e.delay})
	}
	return health.Result{Cause: e.cause}
}
