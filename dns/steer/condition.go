package steer

import (
	"net/netip"
	"time"

	"gslb/config"
	"gslb/health"
)

// endpoint is one server of a member.
type endpoint struct {
	address netip.Addr
	targets []int32      // indices in Policy.targets, of which the worst counts; none: unchecked, always healthy
	own     int          // the first so many are its own, the others those of its place as a whole
	state   config.State // by hand: its own, else its place's
}

// condition is how an endpoint stands by all its checks, and by hand.
type condition struct {
	serving  bool
	known    bool            // some check has told something, or there is none
	degraded bool            // it serves, and has failed of late
	target   int32           // the check that tells most of what is wrong; -1: unchecked
	worst    health.Endpoint // what it tells
	falls    time.Duration   // soonest that the rule could take the endpoint out; 0: nothing points that way
	rises    time.Duration   // soonest that the rule could bring it back; 0: nothing points that way
}

// condition judges an endpoint: it serves while all its checks let it. A hand decides without them; what they say
// is told all the same.
func (j *judge) condition(e endpoint) condition {
	c := condition{serving: true, known: len(e.targets) == 0, target: -1}
	stuck := false // some check keeps it out, and does not point to a change
	for _, t := range e.targets {
		state, check := j.target(t)
		next := check.Next(state)
		if c.target < 0 || worse(state, c.worst) {
			c.worst, c.target = state, t
		}
		c.known = c.known || state.Verdict != health.Unknown
		c.degraded = c.degraded || state.Verdict == health.Up && state.Failed > 0
		if state.Serving() {
			c.falls = sooner(c.falls, next)
			continue
		}
		c.serving = false
		stuck = stuck || next == 0
		c.rises = max(c.rises, next)
	}
	switch {
	case e.state != config.StateAuto:
		c.serving, c.falls, c.rises = e.state == config.StateUp, 0, 0
	case c.serving:
		c.rises = 0
	default:
		c.falls = 0
	}
	if stuck {
		c.rises = 0
	}
	c.degraded = c.degraded && c.serving && e.state == config.StateAuto
	return c
}

// target gives what the checks say of a target; of one that is not on the board nothing.
func (j *judge) target(t int32) (health.Endpoint, health.Check) {
	check := j.policy.targets[t].Check
	if n := j.numbers.of[t]; n >= 0 {
		return j.report.At(int(n)), check
	}
	return health.Endpoint{}, check
}

// condition is how an endpoint stands in the snapshot.
func (s *Snapshot) condition(e endpoint) condition { return s.judge().condition(e) }

func (s *Snapshot) judge() *judge {
	return &judge{policy: s.in.Policy, report: s.in.Health, numbers: s.numbers}
}

// worse tells whether an endpoint says more of what is wrong than another: a withdrawn one does, of
// these the one that is longest; else that with more failures.
func worse(a, b health.Endpoint) bool {
	switch {
	case a.Serving() != b.Serving():
		return !a.Serving()
	case !a.Serving():
		return a.Since.Before(b.Since)
	}
	return a.Failed > b.Failed
}

// probe gives the address that a target of the endpoint probes, where that is not the endpoint's own.
func (p *Policy) probe(e endpoint, target int32) (netip.Addr, bool) {
	if target < 0 || p.targets[target].Address == e.address {
		return netip.Addr{}, false
	}
	return p.targets[target].Address, true
}

// several tells whether an endpoint has more than one check, so that reasons must name the one they are of.
func (e endpoint) several() bool { return len(e.targets) > 1 || e.own < len(e.targets) }
