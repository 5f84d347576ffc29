package steer

import (
	"net/netip"
	"reflect"
	"slices"
)

// viewsFrom gives the partition of every view, and the terrains of the maps that have any: out of the
// previous snapshot what would come out the same there. An edit that does not touch geography, as a
// drain, then costs no cutting of the world.
func (s *Snapshot) viewsFrom(prev *Snapshot) ([]*partition, []*terrain) {
	p := s.in.Policy
	if prev != nil && prev.in.Geo == s.in.Geo && prev.in.Policy == p {
		return prev.views, prev.terrains
	}
	views, terrains := make([]*partition, len(p.views)), make([]*terrain, len(p.maps))
	same := make([]int, len(p.maps)) // the map of the previous policy with the same rules, or -1
	for m, rs := range p.maps {
		same[m] = -1
		if prev != nil && prev.in.Geo == s.in.Geo && samePlaces(p, prev.in.Policy) {
			same[m] = slices.IndexFunc(prev.in.Policy.maps, rs.equal)
		}
		if same[m] >= 0 {
			terrains[m] = prev.terrains[same[m]]
		}
	}
	for i, v := range p.views {
		if m := same[v.rules]; m >= 0 {
			if j, ok := prev.in.Policy.viewNumbers[viewKey{m, v.near}.word()]; ok {
				views[i] = prev.views[j]
				continue
			}
		}
		if terrains[v.rules] == nil {
			terrains[v.rules] = p.maps[v.rules].terrain(s.in.Geo)
		}
		views[i] = p.byGeography(v, terrains[v.rules])
	}
	return views, terrains
}

// equal tells whether two maps lead every client alike. Rules are compared by reflection so that a key
// which a rule gets later counts by itself; only their networks, of which there may be many, are not.
func (rs rules) equal(os rules) bool {
	return slices.EqualFunc(rs, os, func(r, o rule) bool {
		if !slices.Equal(r.networks, o.networks) || (r.networks == nil) != (o.networks == nil) {
			return false
		}
		r.networks, o.networks = nil, nil
		return reflect.DeepEqual(r, o)
	})
}

// rebuildShare is the part of all prefixes, one in so many, that may change before it is cheaper to
// cut everything anew than to patch block after block.
const rebuildShare = 64

// partnersFrom gives the partition of the partners' routes: out of the previous snapshot when
// nothing changed, patched from it when little did.
func (s *Snapshot) partnersFrom(prev *Snapshot) *routed {
	p := s.in.Policy
	if prev == nil || !samePlaces(p, prev.in.Policy) || !slices.EqualFunc(p.partners, prev.in.Policy.partners, sameRoads) {
		return p.byRoutes(s.in.Routes)
	}
	switch {
	case prev.in.Routes == s.in.Routes:
		return prev.partners
	case prev.partners.outgrown():
		return p.byRoutes(s.in.Routes)
	}
	var changed []netip.Prefix
	for c := range s.in.Routes.Changed(prev.in.Routes) {
		if changed = append(changed, c); len(changed) > s.in.Routes.Len()/rebuildShare {
			return p.byRoutes(s.in.Routes)
		}
	}
	return p.patched(prev.partners, s.in.Routes, changed)
}

// standingsFrom gives how every member stands: out of the previous snapshot where neither a verdict nor a
// drain is another.
func (s *Snapshot) standingsFrom(prev *Snapshot) (standings, *numbers) {
	p, now := s.in.Policy, s.in.Now
	j := &judge{policy: p, report: s.in.Health}
	var changed []int
	same := prev != nil && prev.in.Policy == p && !now.Before(prev.in.Now) && (prev.drainEnd.IsZero() || now.Before(prev.drainEnd))
	if same {
		changed, same = s.in.Health.Changed(prev.in.Health)
	}
	switch {
	case !same:
		j.numbers, j.active = newNumbers(p, s.in.Health), p.activeAt(now)
		return allStandings(j), j.numbers
	case len(changed) == 0:
		return prev.standings, prev.numbers
	}
	j.numbers, j.active = prev.numbers, p.activeAt(now)
	return prev.standings.after(j.numbers.users(changed), j.service), j.numbers
}

// samePlaces tells whether the numbers of places mean the same in two policies, and stand at the same points of the
// globe. What else there is to a place, no partition has in it.
func samePlaces(p, q *Policy) bool {
	return p == q || slices.EqualFunc(p.places, q.places, func(a, b place) bool {
		return a.name == b.name && a.located == b.located && a.point == b.point
	})
}

// sameRoads tells whether the routes of two partners lead to the same site.
func sameRoads(a, b partner) bool {
	return a.Name == b.Name && a.site == b.site && a.shadow == b.shadow
}
