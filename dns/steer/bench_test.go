package steer_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

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

// BenchmarkDecideWhileARampRuns is BenchmarkDecide with a place on its way back.
func BenchmarkDecideWhileARampRuns(b *testing.B) {
	w := newWorld(b, strings.Replace(cdn, "msk-1: {", "msk-1: {ramp: 10m, ", 1))
	w.tenures = steer.NewTenures(map[string]steer.Tenure{"video msk-1": {Since: noon}, "portal msk-1": {Since: noon}})
	s := w.snapshot()
	clients := make([]steer.Client, 1<<16)
	luck := rand.New(rand.NewPCG(1, 2))
	for i := range clients {
		n := luck.Uint32()
		clients[i] = s.Client(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), steer.Subnet{})
	}
	now := noon.Add(5 * time.Minute)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		sink = steer.Decide(s, steer.Query{Client: clients[i&(1<<16-1)], Seed: uint64(i), Now: now})
		i++
	}
}
