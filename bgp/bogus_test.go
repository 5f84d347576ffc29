package bgp

import (
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestBogusIsWhatTheListHolds compares with a search of the whole list, near the edges of its networks and elsewhere.
func TestBogusIsWhatTheListHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Custom(func(t *rapid.T) netip.Addr {
			octets := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "octets")
			if rapid.Bool().Draw(t, "IPv4") {
				octets = octets[:4]
			}
			near := rapid.SampledFrom(bogus).Draw(t, "near").Addr().AsSlice()
			if len(near) == len(octets) {
				copy(octets, near[:rapid.IntRange(0, len(near)).Draw(t, "shared")])
			}
			a, _ := netip.AddrFromSlice(octets)
			return a
		}).Draw(t, "address")
		for _, a := range []netip.Addr{a, a.Prev(), a.Next()} {
			if want := slices.ContainsFunc(bogus, func(p netip.Prefix) bool { return p.Contains(a) }); a.IsValid() && Bogus(a) != want {
				t.Fatalf("%s: %v", a, !want)
			}
		}
	})
}
