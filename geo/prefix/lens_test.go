package prefix_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"gslb/geo/prefix"
)

// A lens must answer as the table does that is made with the same function.
func TestLensAnswersAsTheMappedTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b prefix.Builder
		n := rapid.IntRange(0, 300).Draw(t, "prefixes")
		most := rapid.SampledFrom([]uint32{1, 3, 40}).Draw(t, "most")
		var edges []netip.Addr
		for range n {
			p := drawPrefix(t)
			b.Set(p, rapid.Uint32Range(0, most).Draw(t, "value"))
			edges = append(edges, p.Addr(), p.Addr().Prev(), p.Addr().Next())
		}
		table := b.Table()
		ground := prefix.NewGround(table)
		for _, modulus := range []uint32{1, 2, 5, 1000} {
			f := func(v uint32) uint32 { return v % modulus }
			mapped, lens := table.Map(f), prefix.NewLens(ground, f)
			for _, a := range append(edges, netip.IPv4Unspecified(), netip.IPv6Unspecified()) {
				if !a.IsValid() {
					continue
				}
				v, span := lens.Lookup(a)
				want, wanted := mapped.Lookup(a)
				if v != want || span != wanted {
					t.Fatalf("%s modulo %d: the lens gives %d/%d, the table %d/%d", a, modulus, v, span, want, wanted)
				}
			}
		}
	})
}

// drawPrefix draws prefixes near each other, so that blocks meet.
func drawPrefix(t *rapid.T) netip.Prefix {
	if rapid.Bool().Draw(t, "ipv4") {
		a := netip.AddrFrom4([4]byte{198, rapid.Byte().Draw(t, "octet") & 3, rapid.Byte().Draw(t, "octet") & 0xf1, rapid.Byte().Draw(t, "octet")})
		return netip.PrefixFrom(a, rapid.IntRange(0, 32).Draw(t, "bits")).Masked()
	}
	a := netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 5: rapid.Byte().Draw(t, "octet") & 0x31, 15: rapid.Byte().Draw(t, "octet")})
	return netip.PrefixFrom(a, rapid.IntRange(0, 128).Draw(t, "bits")).Masked()
}

func BenchmarkLens(b *testing.B) {
	var build prefix.Builder
	luck := rand.New(rand.NewPCG(1, 2))
	for range 500_000 {
		n := luck.Uint32()
		a := netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
		build.Set(netip.PrefixFrom(a, 12+int(n%13)), luck.Uint32N(250))
	}
	table := build.Table()
	f := func(v uint32) uint32 { return v % 7 }
	ground := prefix.NewGround(table)
	b.Run("ground", func(b *testing.B) {
		for b.Loop() {
			ground = prefix.NewGround(table)
		}
	})
	lens, mapped := prefix.NewLens(ground, f), table.Map(f)
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lens = prefix.NewLens(ground, f)
		}
	})
	clients := make([]netip.Addr, 1<<16)
	for i := range clients {
		n := luck.Uint32()
		clients[i] = netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
	for name, lookup := range map[string]func(netip.Addr) (uint32, int){"lens": lens.Lookup, "mapped": mapped.Lookup} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				lookup(clients[i&(1<<16-1)])
			}
		})
	}
}
