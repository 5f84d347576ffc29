package steer

import "slices"

// ThroughLenses is the snapshot as it would be if the views of geography were too many to be copied.
func (s *Snapshot) ThroughLenses() *Snapshot {
	seen := *s
	seen.views = make([]*partition, len(s.views))
	for i, v := range s.in.Policy.views {
		seen.views[i] = s.in.Policy.throughLens(v, s.terrains[v.rules])
	}
	return &seen
}

// CutSince tells whether a snapshot has views of geography, or of the partners' routes, that an older one has not.
func (s *Snapshot) CutSince(old *Snapshot) (views, partners bool) {
	return slices.ContainsFunc(s.views, func(v *partition) bool { return !slices.Contains(old.views, v) }), s.partners != old.partners
}
