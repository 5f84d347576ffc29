package steer

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"gslb/bgp"
	"gslb/geo"
	"gslb/health"
)

// Routes that change for years must not leave behind every list that there ever was.
func TestPatchesDoNotPileUpLists(t *testing.T) {
	p := &Policy{}
	for i := range 7 {
		name := fmt.Sprintf("partner-%d", i)
		p.places = append(p.places, place{name: name})
		p.partners = append(p.partners, partner{Partner: bgp.Partner{Name: name}, site: placeID(i)})
	}
	peer, block := netip.MustParseAddr("127.0.0.9"), netip.MustParsePrefix("198.18.0.0/15")
	in := Inputs{Policy: p, Health: health.NewBoard().Latest(), Geo: geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {})}
	var prev *Snapshot
	most := 0
	for n := range 2500 {
		var routes []bgp.Route
		for i := range rebuildShare { // so many that one prefix is a small part of them
			calm := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, byte(i), 0}), 24)
			routes = append(routes, bgp.Route{Prefix: calm, Partner: p.partners[0].Name, Peer: peer})
		}
		for i := range p.partners { // nearly every n orders the sites of the block in its own way
			routes = append(routes, bgp.Route{Prefix: block, Partner: p.partners[i].Name, Peer: peer, Preference: uint32(n >> (2 * i) & 3)})
		}
		in.Routes = bgp.NewTable(uint64(n)+1, routes)
		s := Build(in, prev)
		most, prev = max(most, len(s.partners.all)), s
	}
	if bound := 2*prev.partners.fresh + spareLists + 1; most <= spareLists || most > bound {
		t.Errorf("at most %d lists were kept, want more than %d and no more than %d", most, spareLists, bound)
	}
	got, _ := prev.partners.at(block.Addr())
	want, _ := Build(in, nil).partners.at(block.Addr())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the last patch gives %v, a full build %v", got, want)
	}
}
