package bgp

import (
	"fmt"
	"net/netip"
	"testing"

	"gslb/bgp/rpki"
	"gslb/bgp/wire"
)

// What says of itself that it is better not relied on comes last, unless the configuration has a meaning for it.
func TestWellKnownCommunitiesPutRoutesLast(t *testing.T) {
	for _, c := range []struct {
		name, carried string
		own           []Community
		want          uint32
	}{
		{"a link that is about to be taken down", "65535:0", nil, 0},
		{"a route that outlived its session", "64501:7 65535:6", nil, 0},
		{"one that the configuration prefers for something else", "64501:50 65535:0", []Community{{Value: "64501:50", Prefer: 150}}, 0},
		{"a meaning of its own", "65535:0", []Community{{Value: "65535:0", Prefer: 70}}, 70},
		{"a meaning of its own for the other", "65535:0 65535:6", []Community{{Value: "65535:0", Prefer: 70}}, 0},
		{"NO_EXPORT", "65535:65281", nil, DefaultPreference},
		{"a large one of the same digits", "65535:0:1 65535:6:0", nil, DefaultPreference},
		{"one that ends alike", "1:65535 65535:60", nil, DefaultPreference},
	} {
		p := Partner{Communities: c.own}
		if got, refused := p.prefer(Path{Communities: c.carried}); got != c.want || refused != Believed {
			t.Errorf("%s: preference %d, %q; want %d", c.name, got, refused, c.want)
		}
	}
}

func TestWhatIsBelieved(t *testing.T) {
	strict := func(p *Partner) {
		p.Accept.Within = []netip.Prefix{netip.MustParsePrefix("203.0.112.0/20"), netip.MustParsePrefix("2001:db8:100::/40")}
		p.Accept.Origins = []uint32{64501, 64503}
		p.Communities = []Community{{Value: "64501:50", Prefer: 50}, {Value: "64501:70", Prefer: 70}, {Value: "64501:1:666", Ignore: true}}
	}
	path := wire.Path{Origin: 64501, PathLength: 1}
	with := func(f func(*wire.Path)) wire.Path { p := path; f(&p); return p }
	for _, tc := range []struct {
		name   string
		prefix string
		path   wire.Path
		want   string
	}{
		{"good", "203.0.113.0/24", path, "100"},
		{"good IPv6", "2001:db8:100::/48", path, "100"},
		{"another origin of the list", "203.0.113.0/24", with(func(p *wire.Path) { p.Origin = 64503 }), "100"},
		{"default route", "0.0.0.0/0", path, "default_route"},
		{"default route of IPv6", "::/0", path, "default_route"},
		{"private", "10.20.0.0/16", path, "bogus"},
		{"shared", "100.64.0.0/10", path, "bogus"},
		{"unique local", "fd00::/16", path, "bogus"},
		{"too long", "203.0.113.0/25", path, "length"},
		{"too short", "128.0.0.0/1", path, "length"},
		{"too long for IPv6", "2001:db8:100::/49", path, "length"},
		{"outside", "198.51.100.0/24", path, "outside_within"},
		{"around", "203.0.0.0/16", path, "outside_within"},
		{"origin", "203.0.113.0/24", with(func(p *wire.Path) { p.Origin = 64502 }), "origin"},
		{"AS_SET", "203.0.113.0/24", with(func(p *wire.Path) { p.Origin = 0 }), "as_set"},
		{"our own ASN", "203.0.113.0/24", with(func(p *wire.Path) { p.Loop = true }), "loop"},
		{"preference", "203.0.113.0/24", with(func(p *wire.Path) { p.Communities = []uint32{64501<<16 | 50, 1} }), "50"},
		{"the lower preference", "203.0.113.0/24", with(func(p *wire.Path) { p.Communities = []uint32{64501<<16 | 70, 64501<<16 | 50} }), "50"},
		{"to be ignored", "203.0.113.0/24", with(func(p *wire.Path) { p.Large = [][3]uint32{{64501, 1, 666}} }), "community_ignore"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStory(t, strict)
			s.sync(s.a, "")
			prefix := netip.MustParsePrefix(tc.prefix)
			s.rib.Routes(s.a, []wire.Change{{Prefix: prefix, Path: tc.path}}, s.now)
			routes := s.rib.Latest().At(prefix)
			if len(routes) != 1 {
				t.Fatalf("%d routes", len(routes))
			}
			got := string(routes[0].Refused)
			if got == "" {
				got = fmt.Sprint(routes[0].Preference)
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestRPKIInvalidRoutesAreRefusedAndComeBack(t *testing.T) {
	s := newStory(t, func(p *Partner) { p.Networks = []netip.Prefix{netip.MustParsePrefix("203.0.115.0/24")} })
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24 198.51.100.0/24")
	vrp := func(prefix string, asn uint32) rpki.VRP {
		p := netip.MustParsePrefix(prefix)
		return rpki.VRP{Prefix: p, MaxLength: p.Bits(), ASN: asn}
	}
	s.rib.Validate(rpki.NewSet([]rpki.VRP{vrp("203.0.112.0/24", 64501), vrp("203.0.113.0/24", 64999), vrp("203.0.115.0/24", 64999)}))
	s.want("198.51.100.0/24=9 203.0.112.0/24=9 203.0.115.0/24=static")
	s.announce(s.a, "203.0.113.0/24")
	s.want("198.51.100.0/24=9 203.0.112.0/24=9 203.0.115.0/24=static")
	s.rib.Validate(nil)
	s.want("198.51.100.0/24=9 203.0.112.0/24=9 203.0.113.0/24=9 203.0.115.0/24=static")
}
