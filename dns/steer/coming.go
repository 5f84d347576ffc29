package steer

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/zone"
)

// maxComing bounds the sets of a service that are signed ahead.
const maxComing = 256

// MaxChanges is how many changes ahead sets are signed: of an endpoint's verdict, or of a place's drain.
const MaxChanges = 2

// Coming gives the sets of records that a service gives now, or may give after up to so many changes, each of which is
// an endpoint that changes its verdict or a place that is drained or no longer drained. The likeliest come first, and
// no more than are worth signing ahead. The list may lack some: a set that is missing is signed when somebody asks for
// it.
func (s *Snapshot) Coming(service, changes int) []sign.Set {
	c := coming{svc: &s.in.Policy.services[service], known: map[string]bool{}}
	standings := s.standings.of(service)
	for i := range c.svc.members {
		c.states = append(c.states, c.svc.members[i].states(&standings[i]))
	}
	tiers := s.in.Policy.tiersOf(c.svc)
	for n := range changes + 1 {
		for _, tier := range tiers {
			c.choose(tier, n)
		}
		if n == 0 {
			c.desperate(tiers)
		}
	}
	return c.sets
}

// coming gathers sets.
type coming struct {
	svc    *Service
	states [][]memberState // by member
	known  map[string]bool // sets, in words
	sets   []sign.Set
}

// memberState is what a member gives, or comes to give.
type memberState struct {
	changes int // until then
	gives   [2][]netip.Addr
	host    *Host // in place of addresses
	aside   bool  // its weight is 0: it is given only when no other is
}

// empty tells whether the member gives nothing.
func (m memberState) empty() bool {
	return m.host == nil && len(m.gives[IPv4])+len(m.gives[IPv6]) == 0
}

// states gives every state that a member can be in after some changes, the present one first.
func (m *member) states(st *standing) []memberState {
	up, all := make([]bool, len(m.endpoints)), make([]bool, len(m.endpoints))
	for i, e := range m.endpoints {
		up[i] = slices.Contains(st.up[familyOf(e.address)], e.address)
		all[i] = e.state != config.StateDown
	}
	if st.drained {
		return []memberState{{}, m.state(up, 1, st)}
	}
	states := []memberState{m.state(up, 0, st), {changes: 1}, m.state(all, 1, st)} // the last two by a drain, or a check of the place
	for i := range m.endpoints {
		for j := range i + 1 {
			if m.endpoints[i].state != config.StateAuto || m.endpoints[j].state != config.StateAuto {
				continue
			}
			up[i] = !up[i]
			changes := 1
			if j < i {
				up[j], changes = !up[j], MaxChanges
			}
			states = append(states, m.state(up, changes, st))
			if j < i {
				up[j] = !up[j]
			}
			up[i] = !up[i]
		}
	}
	return states
}

// state is what a member gives while these endpoints of it serve.
func (m *member) state(up []bool, changes int, st *standing) memberState {
	state, serving := memberState{changes: changes, aside: st.weight == 0}, 0
	for i, e := range m.endpoints {
		if up[i] {
			serving++
			state.gives[familyOf(e.address)] = append(state.gives[familyOf(e.address)], e.address)
		}
	}
	if serving < m.minHealthy {
		return memberState{changes: changes}
	}
	if m.host != nil {
		host := *m.host
		host.Weight = uint16(st.weight)
		return memberState{changes: changes, host: &host, aside: state.aside}
	}
	return state
}

// tiersOf gives the tiers that clients of a service can be in, as indices of its members: each member alone, for
// distance and partners make such tiers, and those that are written down.
func (p *Policy) tiersOf(svc *Service) [][]int {
	var tiers [][]int
	add := func(tier []placeID) {
		var members []int
		for _, place := range tier {
			if i, ok := svc.places.member(place); ok {
				members = append(members, i)
			}
		}
		if len(members) > 0 && !slices.ContainsFunc(tiers, func(t []int) bool { return slices.Equal(t, members) }) {
			tiers = append(tiers, members)
		}
	}
	for _, l := range []list{svc.places.datacenters, svc.places.rest} {
		for _, tier := range l {
			add(tier)
		}
	}
	if svc.view >= 0 {
		for _, r := range p.maps[p.views[svc.view].rules] {
			for _, tier := range r.to {
				add(tier)
			}
		}
	}
	for _, m := range svc.members {
		add([]placeID{m.place})
	}
	return tiers
}

// choose gathers what a tier gives after exactly so many changes.
func (c *coming) choose(tier []int, changes int) {
	chosen := make([]memberState, 0, len(tier))
	var next func(at, left int)
	next = func(at, left int) {
		if len(c.sets) >= maxComing {
			return
		}
		if at == len(tier) {
			if left == 0 {
				c.take(chosen)
			}
			return
		}
		for _, state := range c.states[tier[at]] {
			if state.changes > left {
				continue
			}
			if state.empty() {
				next(at+1, left-state.changes)
				continue
			}
			chosen = append(chosen, state)
			next(at+1, left-state.changes)
			chosen = chosen[:len(chosen)-1]
		}
	}
	if c.svc.answer == 1 {
		c.chooseOne(tier, changes)
		return
	}
	next(0, changes)
}

// chooseOne is choose where one place alone is given, whatever the others do. The two families of an HTTPS record are
// drawn each by itself.
func (c *coming) chooseOne(tier []int, changes int) {
	for _, i := range tier {
		for _, state := range c.states[i] {
			if state.changes == changes && !state.empty() {
				c.add([]memberState{state})
			}
		}
	}
	if c.svc.https == nil {
		return
	}
	for _, i := range tier {
		for _, j := range tier {
			for _, a := range c.states[i] {
				for _, b := range c.states[j] {
					if i != j && a.changes+b.changes == changes {
						c.bind(a.gives[IPv4], b.gives[IPv6])
					}
				}
			}
		}
	}
}

// take gathers what is given of those that serve in a tier: of those that do not stand aside; and of all, since whoever
// does may be the only one of its family.
func (c *coming) take(serving []memberState) {
	front := slices.DeleteFunc(slices.Clone(serving), func(m memberState) bool { return m.aside })
	if len(front) > 0 && len(front) < len(serving) {
		c.takeAny(front)
	}
	c.takeAny(serving)
}

// takeAny gathers what is given of some members: all of them, or any so many.
func (c *coming) takeAny(serving []memberState) {
	if len(serving) <= c.svc.answer {
		c.add(serving)
		return
	}
	drawn := make([]memberState, 0, c.svc.answer)
	var next func(at int)
	next = func(at int) {
		switch {
		case len(c.sets) >= maxComing:
		case len(drawn) == c.svc.answer:
			c.add(drawn)
		case at < len(serving):
			drawn = append(drawn, serving[at])
			next(at + 1)
			drawn = drawn[:len(drawn)-1]
			next(at + 1)
		}
	}
	next(0)
}

// desperate gathers what is given when nobody serves.
func (c *coming) desperate(tiers [][]int) {
	switch c.svc.allDown.Mode {
	case config.AllDownAddresses:
		var fixed memberState
		for _, a := range c.svc.allDown.Addresses {
			fixed.gives[familyOf(a)] = append(fixed.gives[familyOf(a)], a)
		}
		c.add([]memberState{fixed})
	case config.AllDownServe:
		for _, tier := range tiers {
			var all []memberState
			for _, i := range tier {
				if m := &c.svc.members[i]; m.host == nil {
					all = append(all, memberState{gives: m.all})
				}
			}
			c.take(all)
		}
	}
}

// add gathers the records that are made of what some members give.
func (c *coming) add(of []memberState) {
	var gives [2][]netip.Addr
	var hosts []Host
	for _, m := range of {
		for f := range gives {
			gives[f] = append(gives[f], m.gives[f]...)
		}
		if m.host != nil {
			hosts = append(hosts, *m.host)
		}
	}
	if len(hosts) > 0 {
		c.hosts(hosts)
		return
	}
	for f, rrtype := range [...]uint16{IPv4: zone.TypeA, IPv6: zone.TypeAAAA} {
		c.windows(rrtype, gives[f])
	}
	if c.svc.https != nil {
		c.bind(gives[IPv4], gives[IPv6])
	}
}

// bind gathers an HTTPS record, unless it has more hints than an answer has.
func (c *coming) bind(ipv4, ipv6 []netip.Addr) {
	if most := c.svc.maxAddresses; len(c.sets) < maxComing && len(ipv4) <= most && len(ipv6) <= most && len(ipv4)+len(ipv6) > 0 {
		c.put(zone.TypeHTTPS, [][]byte{c.svc.https.AppendData(nil, inOrder(ipv4), inOrder(ipv6))})
	}
}

// inOrder is addresses in order, each once.
func inOrder(addresses []netip.Addr) []netip.Addr {
	return slices.Compact(slices.SortedFunc(slices.Values(addresses), netip.Addr.Compare))
}

// windows gathers addresses, or, where there are more than an answer has, each part of them that rotation gives.
func (c *coming) windows(rrtype uint16, addresses []netip.Addr) {
	if len(addresses) == 0 {
		return
	}
	turns := 1
	if len(addresses) > c.svc.maxAddresses {
		turns = len(addresses)
	}
	for turn := range turns {
		var data [][]byte
		for i := range min(len(addresses), c.svc.maxAddresses) {
			data = append(data, addresses[(turn+i)%len(addresses)].AsSlice())
		}
		c.put(rrtype, data)
	}
}

func (c *coming) hosts(hosts []Host) {
	var data [][]byte
	for _, h := range hosts[:min(len(hosts), c.svc.maxAddresses)] {
		data = append(data, h.AppendData(nil))
	}
	c.put(c.svc.gives, data)
}

// put gathers a set, unless it is there.
func (c *coming) put(rrtype uint16, data [][]byte) {
	slices.SortFunc(data, slices.Compare)
	data = slices.CompactFunc(data, slices.Equal)
	words := binary.BigEndian.AppendUint16(nil, rrtype)
	for _, d := range data {
		words = append(binary.BigEndian.AppendUint16(words, uint16(len(d))), d...)
	}
	if len(c.sets) >= maxComing || c.known[string(words)] {
		return
	}
	c.known[string(words)] = true
	c.sets = append(c.sets, sign.Set{Type: rrtype, Records: words[2:]})
}
