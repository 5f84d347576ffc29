package steer

import (
	"net/netip"
	"time"

	"gslb/config"
	"gslb/health"
)

// standing is what one member of a service is worth at the moment.
type standing struct {
	healthy bool // at least minHealthy endpoints serve
	unknown bool // healthy, and no check has had a result yet
	drained bool
	hard    bool // drained, and not even given when nobody else serves
	drain   *config.Drain
	up      [2][]netip.Addr  // serving addresses by family
	all     [2][]netip.Addr  // every address by family
	falls   [2]time.Duration // soonest that the rule could take an address of the family out; 0: nothing points that way
	rises   time.Duration    // soonest that the rule could bring an endpoint back; 0: nothing points that way
}

// judge says how members stand.
type judge struct {
	policy  *Policy
	report  *health.Report
	numbers *numbers
	active  map[string][]*config.Drain
}

// service gives the standing of every member of a service.
func (j *judge) service(svc *Service) []standing {
	all := make([]standing, len(svc.members))
	for i := range svc.members {
		m := &svc.members[i]
		all[i] = j.member(m)
		st := &all[i]
		st.drain, st.hard = drainOf(j.active[j.policy.places[m.place].name], svc.name)
		st.drained = st.drain != nil
	}
	return all
}

func (j *judge) member(m *member) standing {
	st := standing{all: m.all}
	var soonest [2]time.Duration
	up, known := 0, false
	for _, e := range m.endpoints {
		state, check := j.endpoint(e)
		f := familyOf(e.address)
		known = known || state.Verdict != health.Unknown
		next := check.Next(state)
		if !state.Serving() {
			st.rises = sooner(st.rises, next)
			continue
		}
		up++
		st.up[f] = append(st.up[f], e.address)
		soonest[f] = sooner(soonest[f], next)
	}
	st.healthy = up >= m.minHealthy
	st.unknown = st.healthy && !known
	st.falls = soonest
	if up == m.minHealthy {
		next := sooner(soonest[IPv4], soonest[IPv6])
		st.falls = [2]time.Duration{next, next} // one more loss withdraws the place
	}
	if up == len(m.endpoints) {
		st.up = m.all
	}
	return st
}

// endpoint gives the state of an endpoint; an unchecked one is always up.
func (j *judge) endpoint(e endpoint) (health.Endpoint, health.Check) {
	if e.target < 0 {
		return health.Endpoint{Verdict: health.Up}, health.Check{}
	}
	check := j.policy.targets[e.target].Check
	if n := j.numbers.of[e.target]; n >= 0 {
		return j.report.At(int(n)), check
	}
	return health.Endpoint{}, check
}

func familyOf(a netip.Addr) Family {
	if a.Is4() {
		return IPv4
	}
	return IPv6
}

// sooner is the smaller of two spans of time, of which 0 means never.
func sooner(a, b time.Duration) time.Duration {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}
