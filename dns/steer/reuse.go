package steer

import (
	"net/netip"
	"reflect"
	"slices"
)

// viewFrom gives the partition of a view, out of the previous snapshot when it would come out the
// same there. An edit that does not touch geography, as a drain, then costs no cutting of the world.
func (s *Snapshot) viewFrom(prev *Snapshot, v viewKey) *partition {
	p := s.in.Policy
	if prev == nil || prev.in.Geo != s.in.Geo || !samePlaces(p, prev.in.Policy) {
		return p.geoPartition(v, s.in.Geo)
	}
	old := prev.in.Policy
	// Rules are compared by reflection so that a key which a rule gets later counts by itself.
	i := slices.IndexFunc(old.views, func(w viewKey) bool {
		return slices.Equal(v.near, w.near) && (p == old && v.rules == w.rules || reflect.DeepEqual(p.maps[v.rules], old.maps[w.rules]))
	})
	if i < 0 {
		return p.geoPartition(v, s.in.Geo)
	}
	return prev.views[i]
}

// rebuildShare is the part of all prefixes, one in so many, that may change before it is cheaper to
// cut everything anew than to patch block after block.
const rebuildShare = 16

// partnersFrom gives the partition of the partners' routes: out of the previous snapshot when
// nothing changed, patched from it when little did.
func (s *Snapshot) partnersFrom(prev *Snapshot) *partition {
	p := s.in.Policy
	if prev == nil || !samePlaces(p, prev.in.Policy) || !slices.EqualFunc(p.partners, prev.in.Policy.partners, sameRoads) {
		return p.partnerPartition(s.in.Routes)
	}
	switch {
	case prev.in.Routes == s.in.Routes:
		return prev.partners
	case prev.partners.outgrown():
		return p.partnerPartition(s.in.Routes)
	}
	var changed []netip.Prefix
	for c := range s.in.Routes.Changed(prev.in.Routes) {
		if changed = append(changed, c); len(changed) > s.in.Routes.Len()/rebuildShare {
			return p.partnerPartition(s.in.Routes)
		}
	}
	return p.patched(prev.partners, s.in.Routes, changed)
}

// standingFrom gives how every member stands: out of the previous snapshot when neither a verdict
// nor a drain is another, as after an UPDATE of a partner.
func (s *Snapshot) standingFrom(prev *Snapshot) [][]standing {
	p, now := s.in.Policy, s.in.Now
	if prev != nil && prev.in.Policy == p && prev.in.Health == s.in.Health && !now.Before(prev.in.Now) &&
		(prev.drainEnd.IsZero() || now.Before(prev.drainEnd)) {
		return prev.standing
	}
	all := make([][]standing, len(p.services))
	for i := range p.services {
		all[i] = p.standings(&p.services[i], s.in.Health, now)
	}
	return all
}

// samePlaces tells whether the numbers of places mean the same in two policies, and stand at the same
// points of the globe.
func samePlaces(p, q *Policy) bool { return p == q || slices.Equal(p.places, q.places) }

// sameRoads tells whether the routes of two partners lead to the same site.
func sameRoads(a, b partner) bool {
	return a.Name == b.Name && a.site == b.site && a.shadow == b.shadow
}
