package bgp

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"
	"time"
)

// DefaultPreference is the local preference of a route that nothing says otherwise about.
const DefaultPreference = 100

// Route is one partner's claim on one prefix.
type Route struct {
	Prefix     netip.Prefix
	Partner    string
	Peer       netip.Addr // the session it came from; the zero Addr: from configuration
	Neighbour  uint32     // ASN of the peer, within which MED compares
	Origin     uint32     // last ASN of the AS_PATH; 0 for a static route
	Preference uint32     // high wins
	PathLength uint32     // short wins
	MED        uint32     // low wins, among routes of one neighbour only
	Since      time.Time  // when it was learned
}

// Static tells whether the route stands in the configuration rather than in a session.
func (r Route) Static() bool { return !r.Peer.IsValid() }

// Table is every route of every partner. It is immutable and safe for concurrent use.
type Table struct {
	version  uint64
	prefixes []netip.Prefix // sorted
	routes   map[netip.Prefix][]Route
	lengths  [2][]int // prefix lengths in use, longest first: IPv4, IPv6
}

// NewTable makes a table of the routes. Prefixes must be masked.
func NewTable(version uint64, routes []Route) *Table {
	t := &Table{version: version, routes: make(map[netip.Prefix][]Route)}
	for _, r := range routes {
		if _, ok := t.routes[r.Prefix]; !ok {
			t.prefixes = append(t.prefixes, r.Prefix)
		}
		t.routes[r.Prefix] = append(t.routes[r.Prefix], r)
	}
	slices.SortFunc(t.prefixes, netip.Prefix.Compare)
	for _, p := range t.prefixes {
		f := family(p.Addr())
		if !slices.Contains(t.lengths[f], p.Bits()) {
			t.lengths[f] = append(t.lengths[f], p.Bits())
		}
	}
	for f := range t.lengths {
		slices.SortFunc(t.lengths[f], func(a, b int) int { return b - a })
	}
	return t
}

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// Version numbers the table among those of one server; it grows with every change.
func (t *Table) Version() uint64 { return t.version }

// Len is the number of prefixes.
func (t *Table) Len() int { return len(t.prefixes) }

// All gives every prefix, in address order and each before the longer ones inside it, with its routes.
func (t *Table) All() iter.Seq2[netip.Prefix, []Route] {
	return func(yield func(netip.Prefix, []Route) bool) {
		for _, p := range t.prefixes {
			if !yield(p, t.routes[p]) {
				return
			}
		}
	}
}

// Covering gives the prefixes that hold the address, longest first, with their routes.
func (t *Table) Covering(a netip.Addr) iter.Seq2[netip.Prefix, []Route] {
	return func(yield func(netip.Prefix, []Route) bool) {
		for _, bits := range t.lengths[family(a)] {
			p := netip.PrefixFrom(a, bits).Masked()
			if routes, ok := t.routes[p]; ok && !yield(p, routes) {
				return
			}
		}
	}
}

// Tiers orders the routes of one prefix: by preference (high first), then AS path length, then
// MED (RFC 4271 section 9.1.2.2), which compares only routes of one neighbour. Routes that none
// of these tells apart share a tier.
//
// MED alone does not order routes totally, so a route's place among those of equal preference and
// length is its rank by MED among its own neighbour's.
func Tiers(routes []Route) [][]Route {
	type ranked struct {
		Route
		med int
	}
	all := make([]ranked, len(routes))
	for i, r := range routes {
		better := map[uint32]bool{}
		for _, o := range routes {
			if o.Preference == r.Preference && o.PathLength == r.PathLength && o.Neighbour == r.Neighbour && o.MED < r.MED {
				better[o.MED] = true
			}
		}
		all[i] = ranked{r, len(better)}
	}
	order := func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.Preference, a.Preference), cmp.Compare(a.PathLength, b.PathLength), cmp.Compare(a.med, b.med))
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
