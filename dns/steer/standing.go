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
	hard    bool             // drained, and not even given when nobody else serves
	offers  offers           // what follows from the rest; see offer
	weight  uint64           // in a draw: less while endpoints are degraded
	rises   time.Duration    // soonest that the rule could bring an endpoint back; 0: nothing points that way
	falls   [2]time.Duration // soonest that the rule could take an address of the family out; 0: nothing points that way
	ailing  int              // endpoints that are degraded
	drain   *config.Drain
	up      [2][]netip.Addr // serving addresses by family
	all     [2][]netip.Addr // every address by family
}

// offers says in which modes a member may be given for which families: a bit for each mode and family, also for
// anyFamily. It stands beside what it follows from since every decision asks for it.
type offers uint16

func (m mode) bit(f Family) offers { return 1 << (uint(m)*(uint(anyFamily)+1) + uint(f)) }

// has tells whether the member has something to give to a family in a mode.
func (o offers) has(m mode, f Family) bool { return o&m.bit(f) != 0 }

// offer works out the offers, once the rest of a standing is known.
func (st *standing) offer() {
	st.offers = 0
	for m := byStanding; m <= lastResort; m++ {
		for f := IPv4; f < anyFamily; f++ {
			if m.allows(st) && len(m.addresses(st, f)) > 0 {
				st.offers |= m.bit(f) | m.bit(anyFamily)
			}
		}
	}
}

// judge says how members stand.
type judge struct {
	policy  *Policy
	report  *health.Report
	numbers *numbers
	active  map[string][]*config.Drain
}

// service gives the standing of every member of a service.
func (j *judge) service(service int) row {
	svc := &j.policy.services[service]
	all := make([]standing, len(svc.members))
	for i := range svc.members {
		m := &svc.members[i]
		all[i] = j.member(m)
		st := &all[i]
		st.drain, st.hard = drainOf(j.active[j.policy.places[m.place].name], svc.name)
		st.drained = st.drain != nil
		st.offer()
	}
	return newRow(all)
}

func (j *judge) member(m *member) standing {
	st := standing{all: m.all}
	var soonest [2]time.Duration
	up, known := 0, false
	for _, e := range m.endpoints {
		c := j.condition(e)
		f := familyOf(e.address)
		known = known || c.known
		if !c.serving {
			st.rises = sooner(st.rises, c.rises)
			continue
		}
		up++
		if c.degraded {
			st.ailing++
		}
		st.up[f] = append(st.up[f], e.address)
		soonest[f] = sooner(soonest[f], c.falls)
	}
	st.weight = m.weightWith(st.ailing, up)
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

// weightWith is the weight of a member of which so many of the endpoints that serve are degraded: each of them
// carries its share.
func (m *member) weightWith(ailing, up int) uint64 {
	if ailing == 0 || m.degraded >= m.weight {
		return m.weight
	}
	return m.weight - (m.weight-m.degraded)*uint64(ailing)/uint64(up)
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
