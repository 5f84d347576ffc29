package steer_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"gslb/dns/steer"
	"gslb/geo"
)

// BenchmarkDecide decides for random clients of the whole IPv4 space on the built-in database.
func BenchmarkDecide(b *testing.B) {
	w := newWorld(b, cdn)
	world, err := geo.Open(geo.Files{})
	if err != nil {
		b.Fatal(err)
	}
	w.geo = world
	s := w.snapshot()
	clients := make([]steer.Client, 1<<16)
	luck := rand.New(rand.NewPCG(1, 2))
	for i := range clients {
		n := luck.Uint32()
		clients[i] = s.Client(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), steer.Subnet{})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		sink = steer.Decide(s, steer.Query{Client: clients[i&(1<<16-1)], Seed: uint64(i)})
		i++
	}
}

// BenchmarkBuild makes a snapshot after one verdict flipped.
func BenchmarkBuild(b *testing.B) {
	w := newWorld(b, cdn)
	prev := w.snapshot()
	b.ReportAllocs()
	for b.Loop() {
		prev = w.after(prev)
	}
}
