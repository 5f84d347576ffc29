package steer

import (
	"slices"

	"gslb/config"
)

// WithDrain gives the snapshot as it would be if this drain held too, with all other inputs the same. It shares with
// the present snapshot what the drain does not touch.
func (s *Snapshot) WithDrain(d config.Drain) *Snapshot {
	p := s.in.Policy
	place := placeID(slices.IndexFunc(p.places, func(at place) bool { return at.name == d.Target }))
	var services []int32
	for i := range p.services {
		if _, at := p.services[i].places.member(place); at && (d.Service == "" || d.Service == p.services[i].name) {
			services = append(services, int32(i))
		}
	}
	with := *s
	with.drains++
	with.standings = s.standings.after(services, func(i int) row {
		members := slices.Clone(s.standings.of(i))
		member, _ := p.services[i].places.member(place)
		members[member].drainBy(&d)
		return newRow(members)
	})
	return &with
}

// drainBy adds a drain to those of a member.
func (st *standing) drainBy(d *config.Drain) {
	if st.drain == nil || endsLater(*d, *st.drain) {
		st.drain = d
	}
	st.drained, st.hard = true, st.hard || d.Hard
	st.offer()
}
