package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/dns/admin"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

func networks(words ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, w := range words {
		all = append(all, netip.MustParsePrefix(w))
	}
	return all
}

func TestPartnersAreATable(t *testing.T) {
	address := netip.MustParseAddr
	all := admin.Partners{
		Listeners: []admin.Listener{
			{Address: netip.MustParseAddrPort("192.0.2.53:179"), Unknown: 3},
			{Address: netip.MustParseAddrPort("[2001:db8::53]:179"), Cause: "permission denied"},
		},
		RPKI: []rpki.View{{From: "vrps.json", State: "missing"}, {From: "192.0.2.9:3323", State: "up to date", VRPs: 512034, Updated: ago(time.Minute)}},
		Partners: []admin.Partner{
			{
				Partner: "sibtel", Site: "nsk", Static: 2, Limit: 100000, IPv4: 98211, IPv6: 4012,
				Partial: bgp.Sample{Count: 12, First: networks("203.0.112.0/24", "203.0.113.0/24", "2001:db8:7::/48")},
				Alone:   bgp.Sample{Count: 2, First: networks("198.18.0.0/24", "198.18.1.0/24")},
				Peers: []admin.Peer{
					{
						Peer: address("203.0.113.9"), ASN: 64501, State: "established", Since: ago(75 * time.Hour), Accepted: 102223, IPv4: 98211, IPv6: 4012,
						Refused: map[bgp.Refusal]int{bgp.RefusedBogus: 2, bgp.RefusedWithin: 1210, bgp.RefusedDefault: 2}, Changed: ago(4 * time.Second),
						Malformed: map[string]uint64{"attribute flags": 1}, Withdrawn: 3, Error: "hold timer expired", Flaps: 1,
					},
					{
						Peer: address("2001:db8:100::9"), ASN: 64501, State: "suspended", Since: ago(40 * time.Second), Accepted: 102211, Stale: 102211, StaleSince: ago(40 * time.Second),
						Changed: ago(4 * time.Minute), Error: "it announced too many prefixes", Until: noon.Add(14*time.Minute + 20*time.Second), Flaps: 2,
					},
				},
			},
			{
				Partner: "uralnet", Site: "ekb", Shadow: true, IPv4: 1,
				Peers: []admin.Peer{{Peer: address("203.0.113.99"), ASN: 4200000001, State: "established", Since: ago(time.Hour), Accepted: 1, IPv4: 1, Stale: 1, Changed: ago(time.Hour)}},
			},
			{Partner: "fixed", Site: "ekb", Static: 3, IPv4: 3, Alone: bgp.Sample{Count: 3, First: networks("192.0.2.0/24")}},
			{Partner: "idle", Site: "ekb", Peers: []admin.Peer{{Peer: address("203.0.113.100"), ASN: 64504, State: "connecting", Since: ago(time.Second)}}},
		},
	}
	var out bytes.Buffer
	sheet{&out, noon}.partners(all)
	out.WriteString("\n----\n")
	sheet{&out, noon}.partners(admin.Partners{})
	golden(t, "partners.txt", out.String())
}

func TestRoutesAreATable(t *testing.T) {
	prefixes := []admin.Prefix{
		{Prefix: netip.MustParsePrefix("203.0.113.0/24"), Sites: []string{"nsk", "ekb"}, Missing: []netip.Addr{netip.MustParseAddr("127.0.0.10")}, Routes: []admin.Route{
			{Partner: "sibtel", Site: "nsk", Peer: "127.0.0.9", Verdict: admin.RouteWins, Origin: 64501, Preference: 100, PathLength: 1, Since: ago(3 * time.Hour)},
			{Partner: "uralnet", Site: "ekb", Peer: "127.0.0.11", PathID: 2, Verdict: admin.RouteSpare, Because: "path length 2 after 1", Origin: 64502, Preference: 100, PathLength: 2, Since: ago(3 * time.Hour), Stale: ago(40 * time.Second)},
			{Partner: "trial", Site: "ekb", Peer: "127.0.0.12", Verdict: admin.RouteShadow, Origin: 64503, Preference: 100, PathLength: 1, MED: 7, Since: ago(time.Minute)},
			{Partner: "sibtel", Site: "nsk", Peer: "127.0.0.13", Verdict: admin.RouteRefused, Refused: bgp.RefusedOrigin, Origin: 4200000001, PathLength: 4, Since: ago(time.Minute)},
		}},
		{Prefix: netip.MustParsePrefix("2001:db8:100::/40"), Sites: []string{"nsk"}, Routes: []admin.Route{
			{Partner: "sibtel", Site: "nsk", Peer: "static", Verdict: admin.RouteWins, Preference: 100},
		}},
	}
	var out bytes.Buffer
	sheet{&out, noon}.routes(prefixes)
	golden(t, "routes.txt", out.String())
}

// fakeServer answers for a server whose table has so many prefixes, and counts what it is asked.
func fakeServer(t *testing.T, prefixes int) (server client, asked *[]string) {
	t.Helper()
	asked = new([]string)
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		if r.URL.Path == "/v1/partners" {
			_ = json.NewEncoder(w).Encode(admin.Partners{Partners: []admin.Partner{{Partner: "sibtel"}, {Partner: "uralnet"}}})
			return
		}
		first := 0
		if from := r.FormValue("from"); from != "" {
			b := netip.MustParsePrefix(from).Addr().As4()
			first = int(b[1])<<8 | int(b[2])
		}
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil {
			t.Errorf("limit %q", r.FormValue("limit"))
		}
		page := admin.Routes{Table: prefixes}
		for i := first; i < prefixes; i++ {
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i)}), 24)
			if len(page.Prefixes) == limit {
				page.Next = p.String()
				break
			}
			page.Prefixes = append(page.Prefixes, admin.Prefix{Prefix: p, Routes: []admin.Route{{Partner: "sibtel"}}})
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(fake.Close)
	return client{address: netip.MustParseAddrPort(fake.Listener.Addr().String())}, asked
}

func TestRoutesOfALargeTableComeInPages(t *testing.T) {
	for _, c := range []struct{ limit, prefixes, want, pages int }{
		{100, 25000, 100, 1},
		{12500, 25000, 12500, 3},
		{0, 25000, 25000, 5},
		{0, 25001, 25001, 6},
		{49999, 7500, 7500, 2},
		{5000, 5000, 5000, 1},
		{0, 0, 0, 1},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.limit, c.prefixes), func(t *testing.T) {
			server, asked := fakeServer(t, c.prefixes)
			var out bytes.Buffer
			if err := (routesQuery{limit: c.limit}).writeJSON(t.Context(), server, &out); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for line := range strings.Lines(out.String()) {
				var p admin.Prefix
				if err := json.Unmarshal([]byte(line), &p); err != nil {
					t.Fatal(err)
				}
				seen[p.Prefix.String()] = true
			}
			if len(seen) != c.want || len(*asked) != c.pages {
				t.Errorf("got %d prefixes in %d pages, want %d in %d", len(seen), len(*asked), c.want, c.pages)
			}
		})
	}
}

func TestNotesOfRoutesAreThoseOfThePartnersShown(t *testing.T) {
	server, _ := fakeServer(t, 3)
	for partner, want := range map[string]string{"": "sibtel brings no prefixes\n  uralnet brings no prefixes", "uralnet": "\n  uralnet brings no prefixes"} {
		var out bytes.Buffer
		if err := (routesQuery{limit: 100, partner: partner}).print(t.Context(), server, sheet{&out, noon}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "These are") || partner != "" && strings.Contains(out.String(), "sibtel brings") {
			t.Errorf("%q: got\n%s", partner, out.String())
		}
	}
}
