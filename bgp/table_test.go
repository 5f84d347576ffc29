package bgp_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"gslb/bgp"
)

func route(prefix, partner string) bgp.Route {
	return bgp.Route{Prefix: netip.MustParsePrefix(prefix), Partner: partner, Preference: bgp.DefaultPreference}
}

func ExampleTable_Covering() {
	t := bgp.NewTable(1, []bgp.Route{
		route("203.0.112.0/20", "uralnet"),
		route("203.0.113.0/24", "sibtel"),
	})
	for prefix, routes := range t.Covering(netip.MustParseAddr("203.0.113.7")) {
		fmt.Println(prefix, routes[0].Partner)
	}
	// Output:
	// 203.0.113.0/24 sibtel
	// 203.0.112.0/20 uralnet
}

func TestCoveringKeepsFamiliesApart(t *testing.T) {
	table := bgp.NewTable(1, []bgp.Route{route("0.0.0.0/1", "four"), route("::/1", "six")})
	for _, tc := range []struct{ client, want string }{
		{"1.2.3.4", "four"}, {"2001:db8::1", "six"}, {"203.0.113.1", ""}, {"ff00::1", ""},
	} {
		got := ""
		for _, routes := range table.Covering(netip.MustParseAddr(tc.client)) {
			got += routes[0].Partner
		}
		if got != tc.want {
			t.Errorf("covering %s: got %q, want %q", tc.client, got, tc.want)
		}
	}
}

func TestAllGivesShorterPrefixesBeforeThoseInside(t *testing.T) {
	table := bgp.NewTable(1, []bgp.Route{
		route("203.0.113.0/24", "b"), route("203.0.113.0/25", "c"), route("203.0.112.0/20", "a"), route("203.0.113.0/24", "d"),
	})
	var got []string
	for p, routes := range table.All() {
		got = append(got, fmt.Sprintf("%s×%d", p, len(routes)))
	}
	want := []string{"203.0.112.0/20×1", "203.0.113.0/24×2", "203.0.113.0/25×1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func stale(r bgp.Route) bgp.Route {
	r.Stale = time.Unix(1, 0)
	return r
}

func TestTiersOrderRoutesOfOnePrefix(t *testing.T) {
	r := func(name string, preference, length, neighbour, med uint32) bgp.Route {
		return bgp.Route{Partner: name, Preference: preference, Path: bgp.Path{Length: length, Neighbour: neighbour, MED: med}}
	}
	for _, tc := range []struct {
		name   string
		routes []bgp.Route
		want   string
	}{
		{"none", nil, ""},
		{"one", []bgp.Route{r("a", 100, 1, 1, 0)}, "a"},
		{"preference before path length", []bgp.Route{r("short", 50, 1, 1, 0), r("preferred", 100, 9, 2, 0)}, "preferred > short"},
		{"path length before MED", []bgp.Route{r("long", 100, 2, 1, 0), r("short", 100, 1, 1, 50)}, "short > long"},
		{"MED within one neighbour", []bgp.Route{r("far", 100, 1, 1, 20), r("near", 100, 1, 1, 10)}, "near > far"},
		{"MED of different neighbours says nothing", []bgp.Route{r("a", 100, 1, 1, 20), r("b", 100, 1, 2, 10)}, "a = b"},
		{"MED ranks inside each neighbour", []bgp.Route{r("a10", 100, 1, 1, 10), r("a20", 100, 1, 1, 20), r("b99", 100, 1, 2, 99)}, "a10 = b99 > a20"},
		{"stale after all others", []bgp.Route{stale(r("stale", 200, 1, 1, 0)), r("a20", 100, 5, 1, 20), r("a10", 100, 5, 1, 10)}, "a10 > a20 > stale"},
		{"stale routes among themselves", []bgp.Route{stale(r("long", 100, 2, 1, 0)), stale(r("short", 100, 1, 1, 0))}, "short > long"},
		{"equal MED shares", []bgp.Route{r("a", 100, 1, 1, 10), r("b", 100, 1, 1, 10), r("c", 100, 1, 1, 11)}, "a = b > c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			for i, tier := range bgp.Tiers(tc.routes) {
				for j, r := range tier {
					switch {
					case j > 0:
						got += " = "
					case i > 0:
						got += " > "
					}
					got += r.Partner
				}
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
