package steer_test

import (
	"net/netip"
	"strings"
	"testing"

	"gslb/dns/steer"
)

func TestWhoTheClientIs(t *testing.T) {
	policy := compile(t, strings.Replace(cdn, "203.0.112.0/20]", "203.0.112.0/20, 10.20.0.0/16]", 1))
	for _, tc := range []struct {
		name   string
		source string
		ecs    string
		want   string
		span   int // of a decision
		scope  int // that this makes
	}{
		{"no subnet", "192.0.2.9", "", "192.0.2.9", 24, 0},
		{"source as IPv4-mapped", "::ffff:192.0.2.9", "", "192.0.2.9", 24, 0},
		{"source with a zone", "fe80::1%lo", "", "fe80::1", 0, 0},
		{"subnet", "192.0.2.9", "203.0.113.0/24", "203.0.113.0", 20, 20},
		{"scope may be longer than the source", "192.0.2.9", "203.0.0.0/8", "203.0.0.0", 20, 20},
		{"IPv6 subnet", "192.0.2.9", "2001:db8::/56", "2001:db8::", 48, 48},
		{"source length 0", "192.0.2.9", "0.0.0.0/0", "192.0.2.9", 24, 0},
		{"independent of the client", "192.0.2.9", "203.0.113.0/24", "203.0.113.0", 0, 0},
		{"private", "192.0.2.9", "10.1.2.0/24", "192.0.2.9", 20, 24},
		{"private but independent of the client", "192.0.2.9", "10.1.2.0/24", "192.0.2.9", 0, 0},
		{"private but a partner's", "192.0.2.9", "10.20.2.0/24", "10.20.2.0", 16, 16},
		{"shared space", "192.0.2.9", "100.64.0.0/16", "192.0.2.9", 20, 16},
		{"multicast", "192.0.2.9", "224.0.0.0/8", "192.0.2.9", 20, 8},
		{"loopback", "192.0.2.9", "127.0.0.1/32", "192.0.2.9", 20, 32},
		{"unique local", "192.0.2.9", "fd00::/48", "192.0.2.9", 20, 48},
		{"link local", "192.0.2.9", "fe80::/64", "192.0.2.9", 20, 64},
		{"documentation is ordinary", "192.0.2.9", "2001:db8::/32", "2001:db8::", 32, 32},
		{"mapped", "192.0.2.9", "::ffff:203.0.113.0/120", "203.0.113.0", 20, 116},
		{"mapped and private", "192.0.2.9", "::ffff:10.0.0.0/104", "192.0.2.9", 20, 104},
		{"compatible", "192.0.2.9", "::203.0.113.0/120", "203.0.113.0", 20, 116},
		{"translated", "192.0.2.9", "::ffff:0:203.0.113.0/120", "203.0.113.0", 20, 116},
		{"NAT64", "192.0.2.9", "64:ff9b::203.0.113.0/120", "203.0.113.0", 20, 116},
		{"6to4", "192.0.2.9", "2002:cb00:7100::/40", "203.0.113.0", 20, 36},
		{"6to4 independent of the client", "192.0.2.9", "2002:cb00:7100::/40", "203.0.113.0", 0, 0},
		{"Teredo", "192.0.2.9", "2001:0:102:304:0:0:34ff:8e00/128", "203.0.113.255", 20, 116},
		{"compatible and private", "192.0.2.9", "::10.0.0.0/104", "192.0.2.9", 20, 104},
		{"translated and private", "192.0.2.9", "::ffff:0:192.168.0.0/112", "192.0.2.9", 20, 112},
		{"NAT64 and shared space", "192.0.2.9", "64:ff9b::100.64.0.0/112", "192.0.2.9", 20, 112},
		{"6to4 and private", "192.0.2.9", "2002:a00::/24", "192.0.2.9", 20, 24},
		{"Teredo and private", "192.0.2.9", "2001:0:102:304:0:0:f5ff:ffff/128", "192.0.2.9", 20, 128},
		{"local NAT64 shows no IPv4", "192.0.2.9", "64:ff9b:1::203.0.113.0/120", "64:ff9b:1::cb00:7100", 48, 48},
		{"ISATAP shows no IPv4", "192.0.2.9", "2001:db8::5efe:203.0.113.1/128", "2001:db8::5efe:cb00:7101", 48, 48},
		{"too short to show the IPv4 inside", "192.0.2.9", "2002::/16", "2002::", 16, 16},
		{"Teredo too short", "192.0.2.9", "2001:0:102:304::/64", "2001:0:102:304::", 32, 32},
		{"the unspecified address", "192.0.2.9", "::/64", "192.0.2.9", 20, 64},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var subnet steer.Subnet
			if tc.ecs != "" {
				subnet.Prefix = netip.MustParsePrefix(tc.ecs)
			}
			c := policy.Client(netip.MustParseAddr(tc.source), subnet)
			if got := c.Address.String(); got != tc.want {
				t.Errorf("client %s, want %s", got, tc.want)
			}
			if got := c.Scope(tc.span); got != tc.scope {
				t.Errorf("scope %d of span %d, want %d", got, tc.span, tc.scope)
			}
		})
	}
}

func TestScopeCountsTheOtherFamily(t *testing.T) {
	const config = `
datacenters: {dc: {}}
sites: {site: {}}
partners: {p: {site: site, networks: [NETWORK]}}
services: {s: {steer: [partners, datacenters], at: {dc: [192.0.2.1], site: [198.51.100.1]}}}
zones: {ok.test: {ns: [ns.example.], services: {www: s}}}
`
	for _, tc := range []struct {
		name    string
		network string
		ecs     string
		scope   int
	}{
		{"IPv6 beside Teredo", "203.0.113.0/24", "2001:db8::/56", 21},
		{"IPv6 beside 6to4", "203.0.113.0/24", "2003::/56", 16},
		{"IPv6 beside NAT64", "203.0.113.0/24", "64:ff9b:1::/56", 48},
		{"IPv6 far from all", "203.0.113.0/24", "2a00::/56", 5},
		{"IPv6 of the other half", "203.0.113.0/24", "8000::/56", 1},
		{"IPv6 with a longer block of its own", "203.0.113.0/24, \"2001:db8:100::/40\"", "2001:db8:100::/56", 40},
		{"6to4", "203.0.113.0/24", "2002:cb00:7100::/48", 40},
		{"6to4 too short to show the IPv4 inside", "203.0.113.0/24", "2002::/16", 16},
		{"IPv4", "203.0.113.0/24", "198.18.0.0/24", 5},
		{"IPv4 where only IPv6 matters", "\"2001:db8:100::/40\"", "198.18.0.0/24", 1},
		{"6to4 where only IPv6 matters", "\"2001:db8:100::/40\"", "2002:cb00:7100::/48", 17},
		{"nobody matters", "", "2a00::/56", 0},
		{"nobody matters in IPv4", "", "198.18.0.0/24", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, strings.Replace(config, "NETWORK", tc.network, 1))
			s := w.snapshot()
			client := s.Client(netip.MustParseAddr("192.0.2.9"), steer.Subnet{Prefix: netip.MustParsePrefix(tc.ecs)})
			d := steer.Decide(s, steer.Query{Client: client})
			if got := client.Scope(d.Span); got != tc.scope {
				t.Errorf("scope %d, want %d", got, tc.scope)
			}
		})
	}
}
