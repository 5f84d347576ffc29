package steer

import (
	"iter"
	"net/netip"

	"gslb/bgp"
	"gslb/geo/prefix"
)

// routed cuts by the routes of the partners.
type routed struct {
	partition
	table *prefix.Table // that the partition looks into
	lists *lists
	fresh int // how many lists there were when all of it was cut at once; the others came by patches
}

func newRouted(table *prefix.Table, numbers *lists, fresh int) *routed {
	return &routed{newPartition(table, numbers.all), table, numbers, fresh}
}

// spareLists is how many lists patches may add, beside as many again as there were.
const spareLists = 1024

// outgrown tells whether patches have added so many lists, most of which nobody may have any more,
// that the next change is one to cut everything anew for.
func (r *routed) outgrown() bool { return len(r.all) > 2*r.fresh+spareLists }

// byRoutes cuts by the routes of the partners that are steered by. The list of an address
// is that of its longest prefix, then what the prefixes around it add.
func (p *Policy) byRoutes(routes *bgp.Table) *routed {
	sites, numbers := p.sites(), newLists()
	table := cut(own(routes.All(), sites), nil, numbers).Table()
	return newRouted(table, numbers, len(numbers.all))
}

// patched gives the cut after some prefixes' routes have changed: only the blocks of these
// are cut anew.
func (p *Policy) patched(old *routed, routes *bgp.Table, changed []netip.Prefix) *routed {
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
	return newRouted(table, numbers, old.fresh)
}

// sites gives where the routes of each partner lead, of those that are steered by: one site each. As a list it
// is made once for all prefixes that have one route, which are most.
func (p *Policy) sites() map[string]list {
	sites := map[string]list{}
	for _, partner := range p.partners {
		if !partner.shadow {
			sites[partner.Name] = list{{partner.site}}
		}
	}
	return sites
}

// own gives the list of each prefix by itself, of those that lead anywhere.
func own(routes iter.Seq2[netip.Prefix, []bgp.Route], sites map[string]list) iter.Seq2[netip.Prefix, list] {
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
func siteList(routes []bgp.Route, sites map[string]list) list {
	if len(routes) == 1 && routes[0].Refused == bgp.Believed {
		return sites[routes[0].Partner]
	}
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
			for _, site := range sites[r.Partner] {
				places = append(places, site...)
			}
		}
		l = l.then(list{places})
	}
	return l
}

// Routes are the partners' routes of the snapshot: also those that are not steered by.
func (s *Snapshot) Routes() *bgp.Table { return s.in.Routes }
