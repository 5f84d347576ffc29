package bgp

import (
	"cmp"
	"slices"
)

// Tiers orders the routes of one prefix: stale ones last, so that another partner serves when the session
// of the first is gone; then by preference (high first), AS path length, and MED (RFC 4271 section
// 9.1.2.2), which compares only routes of one neighbour. Routes that none of these tells apart share a
// tier.
//
// MED alone does not order routes totally, so a route's place among those of equal preference and
// length is its rank by MED among its own neighbour's.
func Tiers(routes []Route) [][]Route {
	if len(routes) == 1 {
		return [][]Route{routes}
	}
	type ranked struct {
		Route
		med int
	}
	all := make([]ranked, len(routes))
	for i, r := range routes {
		better := map[uint32]bool{}
		for _, o := range routes {
			if waits(o) == waits(r) && o.Preference == r.Preference && o.Path.Length == r.Path.Length && o.Path.Neighbour == r.Path.Neighbour && o.Path.MED < r.Path.MED {
				better[o.Path.MED] = true
			}
		}
		all[i] = ranked{r, len(better)}
	}
	order := func(a, b ranked) int {
		return cmp.Or(cmp.Compare(waits(a.Route), waits(b.Route)), cmp.Compare(b.Preference, a.Preference), cmp.Compare(a.Path.Length, b.Path.Length), cmp.Compare(a.med, b.med))
	}
	slices.SortStableFunc(all, order)
	var tiers [][]Route
	for i, r := range all {
		if i == 0 || order(all[i-1], r) != 0 {
			tiers = append(tiers, nil)
		}
		last := len(tiers) - 1
		tiers[last] = append(tiers[last], r.Route)
	}
	return tiers
}

// waits is 1 for a stale route, 0 for any other.
func waits(r Route) int {
	if r.Stale.IsZero() {
		return 0
	}
	return 1
}
