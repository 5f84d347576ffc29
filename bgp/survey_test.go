package bgp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gslb/bgp/wire"
)

// sitesOf is where the partners of a story lead; "silent" is not steered by.
func sitesOf(partner string) string {
	return map[string]string{"sibtel": "nsk", "uralnet": "ekb", "twin": "nsk"}[partner]
}

func nets(words ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, w := range words {
		all = append(all, netip.MustParsePrefix(w))
	}
	return all
}

func TestAccountsTellWhatEachPeerBrings(t *testing.T) {
	s := newStory(t, func(p *Partner) { p.Networks = nets("192.0.2.0/24") })
	s.sync(s.a, "203.0.113.0/24 10.0.0.0/8 2001:db8::/32")
	s.after(time.Minute)
	s.announce(s.a, "198.51.100.0/24")
	s.rib.Down(s.a, Cause{Text: "lost"}, s.now)
	s.sync(s.b, "203.0.113.0/24")
	got := s.rib.Latest().Accounts()
	for i := range got {
		got[i].Tally = Tally{}
	}
	want := []Account{
		{Partner: "sibtel", Up: true, IPv4: 1},
		{Partner: "uralnet", Up: true},
		{Partner: "sibtel", Peer: s.a.Address, IPv4: 2, IPv6: 1, Stale: 3, StaleSince: s.now, Changed: s.now},
		{Partner: "sibtel", Peer: s.b.Address, Up: true, IPv4: 1, Changed: s.now},
		{Partner: "uralnet", Peer: s.c.Address},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := s.rib.Latest().Accounts()[2].Tally.Refused()[RefusedBogus]; n != 1 {
		t.Errorf("%d bogus prefixes, want 1", n)
	}
}

func TestRoutesThatNobodyHasConfirmedYetAreStale(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24 198.51.100.0/24")
	s.rib.Down(s.a, Cause{Text: "lost"}, s.now)
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.113.0/24")
	s.after(quiet)
	for _, a := range s.rib.Latest().Accounts() {
		if a.Peer == s.a.Address && (a.Stale != 1 || a.IPv4 != 2 || !a.Up) {
			t.Errorf("got %+v", a)
		}
	}
}

func TestSurveyFindsWhatIsBadlyBacked(t *testing.T) {
	s := newStory(t, func(p *Partner) { p.Networks = nets("192.0.2.0/24") })
	s.sync(s.a, "203.0.113.0/24 203.0.112.0/24 2001:db8::/32")
	s.sync(s.b, "203.0.113.0/24 10.0.0.0/8 198.51.100.0/24")
	s.sync(s.c, "203.0.112.0/23 203.0.0.0/16")
	want := map[string]Survey{
		"sibtel": {
			IPv4: 4, IPv6: 1,
			Partial: Sample{2, nets("198.51.100.0/24", "203.0.112.0/24")},
			Alone:   Sample{3, nets("192.0.2.0/24", "198.51.100.0/24", "2001:db8::/32")},
		},
		"uralnet": {IPv4: 2, Alone: Sample{2, nets("203.0.0.0/16", "203.0.112.0/23")}},
	}
	got := s.rib.Latest().Survey(sitesOf)
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The survey agrees with one that looks up everything anew for every prefix.
func TestSurveyAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var routes []Route
		for range rapid.IntRange(0, 40).Draw(r, "routes") {
			bits := rapid.IntRange(1, 6).Draw(r, "bits")
			octet := byte(rapid.IntRange(0, 255).Draw(r, "octet"))
			route := Route{
				Prefix:  netip.PrefixFrom(netip.AddrFrom4([4]byte{octet}), bits).Masked(),
				Partner: rapid.SampledFrom([]string{"sibtel", "uralnet", "twin", "silent"}).Draw(r, "partner"),
				PathID:  uint32(rapid.IntRange(0, 1).Draw(r, "path")),
				Refused: rapid.SampledFrom([]Refusal{Believed, Believed, RefusedWithin}).Draw(r, "refused"),
			}
			if rapid.IntRange(0, 3).Draw(r, "static") > 0 {
				route.Peer = netip.AddrFrom4([4]byte{127, 0, 0, byte(rapid.IntRange(1, 3).Draw(r, "peer"))})
			}
			if rapid.IntRange(0, 5).Draw(r, "family") == 0 {
				route.Prefix = netip.PrefixFrom(netip.AddrFrom16([16]byte{octet}), bits).Masked()
			}
			routes = append(routes, route)
		}
		table := NewTable(1, routes)
		if diff := cmp.Diff(twinSurvey(table), table.Survey(sitesOf), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			r.Errorf("-twin +got:\n%s", diff)
		}
	})
}

func twinSurvey(t *Table) map[string]Survey {
	type peers map[netip.Addr]bool
	active := map[string]map[bool]peers{}
	found := map[string]Survey{}
	for _, p := range t.peers {
		found[p.partner], active[p.partner] = Survey{}, map[bool]peers{false: {}, true: {}}
	}
	announcing := func(p netip.Prefix) map[string]peers {
		all := map[string]peers{}
		for _, r := range t.At(p) {
			if r.Refused != Believed {
				continue
			}
			if all[r.Partner] == nil {
				all[r.Partner] = peers{}
			}
			if !r.Static() {
				all[r.Partner][r.Peer] = true
			}
		}
		return all
	}
	for p := range t.All() {
		for partner, those := range announcing(p) {
			for peer := range those {
				active[partner][p.Addr().Is6()][peer] = true
			}
		}
	}
	for p := range t.All() {
		sites := map[string]bool{}
		for around, routes := range t.Covering(p.Addr()) {
			for _, r := range routes {
				if around.Bits() <= p.Bits() && sitesOf(r.Partner) != "" {
					sites[sitesOf(r.Partner)] = true
				}
			}
		}
		for partner, those := range announcing(p) {
			s := found[partner]
			if p.Addr().Is6() {
				s.IPv6++
			} else {
				s.IPv4++
			}
			if len(those) > 0 && len(those) < len(active[partner][p.Addr().Is6()]) {
				s.Partial.add(p)
			}
			if sitesOf(partner) != "" && len(sites) == 1 {
				s.Alone.add(p)
			}
			found[partner] = s
		}
	}
	return found
}

func TestFromGoesOnWhereItIsTold(t *testing.T) {
	var routes []Route
	for i := range 1000 {
		routes = append(routes, Route{Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i)}), 24), Partner: "sibtel", Refused: RefusedBogus})
	}
	table := NewTable(1, routes)
	for start := range 1000 {
		i := start
		for p, at := range table.From(routes[start].Prefix) {
			if p != routes[i].Prefix || len(at) != 1 {
				t.Fatalf("from %d: got %s, want %s", start, p, routes[i].Prefix)
			}
			if i++; i > start+200 {
				break
			}
		}
	}
	for range table.From(netip.MustParsePrefix("10.255.0.0/24")) {
		t.Fatal("there is nothing behind the last")
	}
}

func BenchmarkSurveyOf100k(b *testing.B) {
	rib := NewRIB()
	partner := believing("sibtel")
	partner.Accept.MaxPrefixes = 1 << 20
	peer := Peer{Partner: "sibtel", Address: netip.MustParseAddr("127.0.0.9"), ASN: 64501}
	rib.Apply([]Partner{partner}, []Peer{peer}, noon)
	rib.Up(peer, Opened{IPv4: true})
	var changes []wire.Change
	for i := range 100_000 {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20 + byte(i>>16), byte(i >> 8), byte(i)}), 24)
		changes = append(changes, wire.Change{Prefix: p, Path: wire.Path{Origin: 64501}})
	}
	rib.Routes(peer, changes, noon)
	rib.EndOfRIB(peer, false, noon)
	table := rib.Latest()
	b.ReportAllocs()
	for b.Loop() {
		if table.Survey(sitesOf)["sibtel"].IPv4 != 100_000 {
			b.Fatal("lost")
		}
	}
}
