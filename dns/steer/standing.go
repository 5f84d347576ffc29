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
	drain   config.Drain
	up      [2][]netip.Addr  // serving addresses by family
	all     [2][]netip.Addr  // every address by family
	falls   [2]time.Duration // soonest that the rule could take an address of the family out; 0: nothing points that way
	rises   time.Duration    // soonest that the rule could bring an endpoint back; 0: nothing points that way
}

func (p *Policy) standings(svc *Service, report *health.Report, now time.Time) []standing {
	all := make([]standing, len(svc.members))
	for i := range svc.members {
		m := &svc.members[i]
		all[i] = p.standing(m, report)
		st := &all[i]
		st.drain, st.drained, st.hard = p.drainOf(p.places[m.place].name, svc.name, now)
	}
	return all
}

func (p *Policy) standing(m *member, report *health.Report) standing {
	var st standing
	var soonest [2]time.Duration
	up, known := 0, false
	for _, e := range m.endpoints {
		state, check := p.endpointState(e, report)
		f := familyOf(e.address)
		st.all[f] = append(st.all[f], e.address)
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
	return st
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
