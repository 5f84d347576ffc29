package sheet

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/dns/admin"
	"gslb/test/golden"
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
	Partners(&out, noon, all)
	out.WriteString("\n----\n")
	Partners(&out, noon, admin.Partners{})
	golden.Compare(t, "testdata/partners.txt", out.String())
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
	Routes(&out, noon, prefixes)
	golden.Compare(t, "testdata/routes.txt", out.String())
}
