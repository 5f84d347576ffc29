package admin_test

import (
	"net/http"
	"testing"

	"gslb/bgp"
)

// One page of a table of a million prefixes, and how the partners stand by it.
func BenchmarkMillionPrefixes(b *testing.B) {
	routes := make([]bgp.Route, 1_000_000)
	for i := range routes {
		routes[i] = bgp.Route{Prefix: numbered(i), Partner: []string{"sibtel", "uralnet"}[i%2], Preference: 100}
	}
	p := newPeering(b)
	table := bgp.NewTable(1, routes)
	p.deps.Routes = func() *bgp.Table { return table }
	for name, path := range map[string]string{
		"page":       "/v1/routes?limit=5000&from=24.0.0.0/24",
		"nothing":    "/v1/routes?refused=1",
		"partners":   "/v1/partners",
		"an address": "/v1/routes?address=24.0.0.1",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if code, body := p.get(path); code != http.StatusOK {
					b.Fatal(body)
				}
			}
		})
	}
}
