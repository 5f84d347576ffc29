package steer

import (
	"iter"
	"net/netip"
	"slices"

	"gslb/bgp"
	"gslb/geo"
	"gslb/geo/prefix"
)

// partition cuts the address space into blocks in which every client has the same list. It is
// canonical: no two neighbouring halves of a block have equal lists, so the block around a client
// is the exact scope of what depends on the list.
type partition struct {
	table *prefix.Table
	lists *lists
	whole int // how many lists there were when all of it was cut at once; the others came by patches
}

// spareLists is how many lists patches may add, beside as many again as there were.
const spareLists = 1024

// outgrown tells whether patches have added so many lists, most of which nobody may have any more,
// that the next change is one to cut everything anew for.
func (p *partition) outgrown() bool { return len(p.lists.all) > 2*p.whole+spareLists }

// at gives the list of a client, and the bits of the widest block around it with that list. 0 bits
// are all addresses of both families: a scope of 0 is taken for all networks (RFC 7871 section
// 7.3.1). An IPv6 block counts the IPv4 addresses inside it (see [embedded]).
func (p *partition) at(client netip.Addr) (l list, span int) {
	n, span := p.table.Lookup(client)
	switch {
	case client.Is6():
		if p.differs(netip.IPv4Unspecified(), n) {
			span = max(span, apart(client))
		}
	case span == 0 && p.differs(netip.IPv6Unspecified(), n):
		span = 1
	}
	return p.lists.all[n], span
}

// differs tells whether any address of a family, which is given by its first, has another list.
func (p *partition) differs(first netip.Addr, n uint32) bool {
	m, span := p.table.Lookup(first)
	return span > 0 || m != n
}

// partnerPartition cuts by the routes of the partners that are steered by. The list of an address
// is that of its longest prefix, then what the prefixes around it add.
func (p *Policy) partnerPartition(routes *bgp.Table) *partition {
	sites, numbers := p.sites(), newLists()
	table := cut(own(routes.All(), sites), nil, numbers).Table()
	return &partition{table, numbers, len(numbers.all)}
}

// patched gives the partition after some prefixes' routes have changed: only the blocks of these
// are cut anew.
func (p *Policy) patched(old *partition, routes *bgp.Table, changed []netip.Prefix) *partition {
	sites, numbers, table := p.sites(), old.lists.clone(), old.table
	var block netip.Prefix
	for _, c := range changed {
		if block.IsValid() && block.Overlaps(c) {
			continue // it was cut with the block around it
		}
		block = c
		var outer list
		for around, rs := range routes.Covering(c.Addr()) {
			if around.Bits() < c.Bits() {
				outer = outer.then(siteList(rs, sites))
			}
		}
		b := cut(own(routes.Within(c), sites), outer, numbers)
		b.Set(c, numbers.intern(siteList(routes.At(c), sites).then(outer)))
		table = table.Replace(c, b.Table())
	}
	return &partition{table, numbers, old.whole}
}

// sites gives where the routes of each partner lead, of those that are steered by.
func (p *Policy) sites() map[string]placeID {
	sites := map[string]placeID{}
	for _, partner := range p.partners {
		if !partner.shadow {
			sites[partner.Name] = partner.site
		}
	}
	return sites
}

// own gives the list of each prefix by itself, of those that lead anywhere.
func own(routes iter.Seq2[netip.Prefix, []bgp.Route], sites map[string]placeID) iter.Seq2[netip.Prefix, list] {
	return func(yield func(netip.Prefix, list) bool) {
		for prefix, rs := range routes {
			if l := siteList(rs, sites); l != nil && !yield(prefix, l) {
				return
			}
		}
	}
}

// cut sets every prefix to its list followed by those of the prefixes around it, and by outer.
func cut(own iter.Seq2[netip.Prefix, list], outer list, numbers *lists) *prefix.Builder {
	var b prefix.Builder
	for p, l := range nest(own, func(around, inner list) list { return inner.then(around) }) {
		b.Set(p, numbers.intern(l.then(outer)))
	}
	return &b
}

// siteList gives the sites that the routes of one prefix lead to, in tiers. Routes that are refused
// lead nowhere.
func siteList(routes []bgp.Route, sites map[string]placeID) list {
	believed := routes[:0:0]
	for _, r := range routes {
		if r.Refused == bgp.Believed {
			believed = append(believed, r)
		}
	}
	var l list
	for _, tier := range bgp.Tiers(believed) {
		var places []placeID
		for _, r := range tier {
			if site, ok := sites[r.Partner]; ok {
				places = append(places, site)
			}
		}
		l = l.then(list{places})
	}
	return l
}

// geoPartition cuts by one view of the geo map.
func (p *Policy) geoPartition(v viewKey, world *geo.Map) *partition {
	rs := p.maps[v.rules]
	numbers := newLists()
	choose := func(location uint32, held []int) uint32 {
		at := world.Location(location)
		i := rs.first(at, held)
		switch {
		case i < 0:
			return 0
		case rs[i].nearest:
			return numbers.intern(p.byDistance(v.near, at))
		}
		return numbers.intern(rs[i].to)
	}
	type pair struct{ location, set uint32 }
	known := map[pair]uint32{}
	nets, sets := rs.networkPartition()
	table := prefix.Overlay(world.Table(), nets, func(location, set uint32) uint32 {
		n, ok := known[pair{location, set}]
		if !ok {
			n = choose(location, sets[set])
			known[pair{location, set}] = n
		}
		return n
	})
	return &partition{table, numbers, len(numbers.all)}
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
	sets := [][]int{nil}
	var b prefix.Builder
	for p, set := range nest(sorted, func(outer, inner []int) []int { return slices.Concat(inner, outer) }) {
		b.Set(p, uint32(len(sets)))
		sets = append(sets, set)
	}
	return b.Table(), sets
}

// nest gives every prefix with the value it has inside the prefixes around it. The prefixes come
// in address order, each before those inside it.
func nest[T any](own iter.Seq2[netip.Prefix, T], inside func(outer, inner T) T) iter.Seq2[netip.Prefix, T] {
	type level struct {
		prefix netip.Prefix
		value  T
	}
	return func(yield func(netip.Prefix, T) bool) {
		var around []level
		for p, v := range own {
			for len(around) > 0 && !around[len(around)-1].prefix.Overlaps(p) {
				around = around[:len(around)-1]
			}
			if len(around) > 0 {
				v = inside(around[len(around)-1].value, v)
			}
			around = append(around, level{p, v})
			if !yield(p, v) {
				return
			}
		}
	}
}
