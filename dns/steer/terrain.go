package steer

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sync"

	"gslb/geo"
	"gslb/geo/prefix"
)

// terrain is what the rules of one map can tell apart of the world: every address has a spot. All views
// of the map look at it, each through a lens of its own.
type terrain struct {
	table  *prefix.Table // from addresses to numbers of spots
	nodes  int           // of table
	ground func() *prefix.Ground
	world  *geo.Map
	spots  []spot  // nil where no rule names networks: then a spot is a location
	sets   [][]int // of rules whose networks hold a spot
}

// spot is where an address can be: a location, inside the networks of some rules.
type spot struct{ location, set uint32 }

// terrain cuts the world by the networks lists of the rules.
func (rs rules) terrain(world *geo.Map) *terrain {
	t := &terrain{table: world.Table(), nodes: world.Nodes(), ground: world.Ground, world: world, sets: [][]int{nil}}
	if !rs.nameNetworks() {
		return t
	}
	var nets *prefix.Table
	nets, t.sets = rs.networkPartition()
	numbers := map[spot]uint32{{}: 0}
	t.spots = []spot{{}}
	t.table = prefix.Overlay(world.Table(), nets, func(location, set uint32) uint32 {
		s := spot{location, set}
		n, ok := numbers[s]
		if !ok {
			n = uint32(len(t.spots))
			numbers[s] = n
			t.spots = append(t.spots, s)
		}
		return n
	})
	t.nodes = t.table.Nodes()
	t.ground = sync.OnceValue(func() *prefix.Ground { return prefix.NewGround(t.table) })
	return t
}

// len is the number of spots.
func (t *terrain) len() int {
	if t.spots == nil {
		return t.world.Len()
	}
	return len(t.spots)
}

// spot gives a spot by its number.
func (t *terrain) spot(n uint32) spot {
	if t.spots == nil {
		return spot{location: n}
	}
	return t.spots[n]
}

// mostCopied is how many nodes of the world all views together may copy into tables of their own, in which a
// look-up takes half the time that it takes through a lens. The built-in countries have some 100,000.
const mostCopied = 1 << 22

// byGeography cuts by one view of a terrain.
func (p *Policy) byGeography(v viewKey, t *terrain) *partition {
	if len(p.views)*t.nodes > mostCopied {
		return p.throughLens(v, t)
	}
	sees, all := p.sees(v, t)
	cut := newPartition(t.table.Map(func(n uint32) uint32 { return sees[n] }), all)
	return &cut
}

// throughLens cuts by one view of a terrain, without a table of its own.
func (p *Policy) throughLens(v viewKey, t *terrain) *partition {
	sees, all := p.sees(v, t)
	cut := newPartition(prefix.NewLens(t.ground(), func(n uint32) uint32 { return sees[n] }), all)
	return &cut
}

// sees gives what a view sees in each spot of a terrain: the number of a list.
func (p *Policy) sees(v viewKey, t *terrain) (sees []uint32, all []list) {
	rs, near := p.maps[v.rules], ranking{places: p.places, near: v.near}
	sees = make([]uint32, t.len())
	numbers := newLists()
	for n := range sees {
		s := t.spot(uint32(n))
		switch i := rs.first(t.world.Location(s.location), t.sets[s.set]); {
		case i < 0:
		case rs[i].nearest:
			sees[n] = numbers.internOrder(near.order(t.world.Point(s.location)))
		default:
			sees[n] = numbers.intern(rs[i].to)
		}
	}
	return sees, numbers.all
}

// networkPartition cuts by the networks lists of the rules. The values of the table are numbers
// of sets: the indices of the rules whose networks hold an address. Set 0 is empty.
func (rs rules) networkPartition() (*prefix.Table, [][]int) {
	own := map[netip.Prefix][]int{}
	for i, r := range rs {
		for _, p := range r.networks {
			own[p] = append(own[p], i)
		}
	}
	prefixes := make([]netip.Prefix, 0, len(own))
	for p := range own {
		prefixes = append(prefixes, p)
	}
	slices.SortFunc(prefixes, netip.Prefix.Compare)
	sorted := func(yield func(netip.Prefix, []int) bool) {
		for _, p := range prefixes {
			if !yield(p, own[p]) {
				return
			}
		}
	}
	sets, numbers := [][]int{nil}, map[string]uint32{"": 0}
	var b prefix.Builder
	union := func(outer, inner []int) []int {
		all := slices.Concat(inner, outer)
		slices.Sort(all)
		return slices.Compact(all)
	}
	for p, set := range nest(sorted, union) {
		var key []byte
		for _, i := range set {
			key = binary.AppendUvarint(key, uint64(i))
		}
		n, ok := numbers[string(key)]
		if !ok {
			n = uint32(len(sets))
			numbers[string(key)] = n
			sets = append(sets, set)
		}
		b.Set(p, n)
	}
	return b.Table(), sets
}
