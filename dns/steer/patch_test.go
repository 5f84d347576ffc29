package steer_test

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"gslb/bgp"
	"gslb/dns/steer"
)

// drawRoutes draws n routes of the two partners of the cdn world.
func drawRoutes(t *rapid.T, n int) []bgp.Route {
	routes := make([]bgp.Route, n)
	for i := range routes {
		a := netip.AddrFrom4([4]byte{198, 18, rapid.Byte().Draw(t, "octet"), rapid.Byte().Draw(t, "octet")})
		routes[i] = bgp.Route{
			Prefix:  netip.PrefixFrom(a, rapid.IntRange(12, 26).Draw(t, "bits")).Masked(),
			Partner: rapid.SampledFrom([]string{"sibtel", "neva"}).Draw(t, "partner"), Peer: mustAddr("127.0.0.9"), PathID: uint32(i),
			Preference: rapid.SampledFrom([]uint32{0, 100}).Draw(t, "preference"),
			Path:       bgp.Path{MED: rapid.Uint32Range(0, 2).Draw(t, "med")},
		}
		if rapid.IntRange(0, 3).Draw(t, "refused") == 0 {
			routes[i].Refused, routes[i].Preference = bgp.RefusedOrigin, 0
		}
	}
	return routes
}

func TestFewChangedRoutesGiveWhatAFullBuildGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, cdn)
		routes := drawRoutes(t, 120)
		w.routes = bgp.NewTable(1, routes)
		prev := w.snapshot()
		for version := range uint64(3) {
			at := rapid.IntRange(0, len(routes)-3).Draw(t, "at")
			copy(routes[at:], drawRoutes(t, rapid.IntRange(1, 2).Draw(t, "changed")))
			w.routes = bgp.NewTable(version+2, routes)
			patched, full := w.after(prev), w.snapshot()
			for range 60 {
				client := netip.AddrFrom4([4]byte{198, 18, rapid.Byte().Draw(t, "client"), rapid.Byte().Draw(t, "client")}).String()
				a, got := decide(t, patched, "video", client, steer.IPv4, 1)
				b, want := decide(t, full, "video", client, steer.IPv4, 1)
				if a.Span != b.Span || got != want {
					t.Fatalf("client %s: patched gives %s scope %d, a full build %s scope %d", client, got, a.Span, want, b.Span)
				}
			}
			prev = patched
		}
	})
}
