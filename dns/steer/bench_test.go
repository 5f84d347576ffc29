package steer_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gslb/dns/steer"
)

// BenchmarkDecide decides for random clients of the whole IPv4 space on the built-in database, and for a few that
// come again and again: in the place of the last decision, as the server does. The time of the processor is told beside
// that of the clock, as other programs do not change it.
func BenchmarkDecide(b *testing.B) {
	w := newWorld(b, cdn)
	w.geo = builtinWorld(b)
	s := w.snapshot()
	all := randomClients(s)
	b.Run("random", func(b *testing.B) { decideFor(b, s, all, time.Time{}) })
	b.Run("warm", func(b *testing.B) { decideFor(b, s, all[:64], time.Time{}) })
}

// randomClients are from the whole IPv4 space; their number is a power of two.
func randomClients(s *steer.Snapshot) []steer.Client {
	clients := make([]steer.Client, 1<<16)
	luck := rand.New(rand.NewPCG(1, 2))
	for i := range clients {
		n := luck.Uint32()
		clients[i] = s.Client(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), steer.Subnet{})
	}
	return clients
}

func decideFor(b *testing.B, s *steer.Snapshot, clients []steer.Client, now time.Time) {
	queries := make([]steer.Query, len(clients))
	for i, c := range clients {
		queries[i] = steer.Query{Client: c, Now: now}
	}
	b.ReportAllocs()
	before := processorTime(b)
	for i := 0; b.Loop(); i++ {
		q := &queries[i&(len(queries)-1)]
		q.Seed = uint64(i) * 0x9e3779b97f4a7c15
		sink = steer.Decision{}
		sink.Make(s, q)
	}
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// processorTime is how long this process has used processors for itself.
func processorTime(tb testing.TB) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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
	decideFor(b, s, randomClients(s), noon.Add(5*time.Minute))
}
