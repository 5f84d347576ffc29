package steer_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gslb/dns/steer"
	"gslb/health"
)

// shared is a configuration of 130 services, more than one page of standings, that share endpoints.
func shared() string {
	text := `
checks: {web: {tcp: {port: 80}, window: 4, fall: 2, rise: 3}, deep: {tcp: {port: 81}, window: 4, fall: 2, rise: 3}}
datacenters: {msk: {}, fra: {}}
drains: [{target: fra, until: 2026-11-29T12:00:04Z}, {target: msk, service: s7, until: 2026-11-29T12:00:02Z}]
services:
`
	for i := range 130 {
		text += fmt.Sprintf("  s%d: {check: web, answer: all, at: {msk: [192.0.2.%d, 192.0.2.%d], fra: {addresses: [198.51.100.%d], check: deep}}}\n",
			i, 1+i%50, 100+i%3, 1+i%40)
	}
	return text
}

// A snapshot that is built on another answers, and tells events, as one that is built from nothing.
func TestFlipsGiveWhatAFullBuildGives(t *testing.T) {
	policy := compile(t, shared())
	rapid.Check(t, func(t *rapid.T) {
		w := worldOf(t, policy)
		targets := w.policy.Targets()
		prev := w.snapshot()
		fresh := prev
		var got, want []netip.Addr
		for range 6 {
			for range rapid.IntRange(0, 6).Draw(t, "results") {
				i := rapid.IntRange(0, len(targets)-1).Draw(t, "target")
				w.record(targets[i], rapid.SampledFrom([]string{"-", "--", "+", "+++"}).Draw(t, "results"))
			}
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "seconds")) * time.Second)
			next, again := w.after(prev), w.snapshot()
			for i := range w.policy.Services() {
				for _, f := range []steer.Family{steer.IPv4, steer.IPv6} {
					q := steer.Query{Service: i, Client: next.Client(mustAddr("192.88.99.1"), steer.Subnet{}), Family: f}
					a, b := steer.Decide(next, q), steer.Decide(again, q)
					got, want = a.Addresses(next, i, got[:0]), b.Addresses(again, i, want[:0])
					if a.Placed != b.Placed || a.TTL != b.TTL || !slices.Equal(got, want) {
						t.Fatalf("service %d: the next snapshot gives %v by %s, TTL %d; a new one %v by %s, TTL %d", i, got, a.Placed, a.TTL, want, b.Placed, b.TTL)
					}
				}
			}
			if diff := cmp.Diff(steer.Diff(fresh, again), steer.Diff(prev, next)); diff != "" {
				t.Fatalf("events of a full build against those of the next snapshot:\n%s", diff)
			}
			prev, fresh = next, again
		}
	})
}

// BenchmarkOneFlipOfTheLargeWorld is what one verdict costs in the large world, from the result to the
// snapshot that answers by it, with what is told of it.
func BenchmarkOneFlipOfTheLargeWorld(b *testing.B) {
	w := &world{t: b, policy: newLarge(1).compile(b), board: health.NewBoard(), routes: largeRoutes(), geo: builtinWorld(b), now: noon}
	targets := w.policy.Targets()
	w.board.Apply(targets, w.now)
	prev := w.snapshot()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t := targets[i*7919%len(targets)]
		w.record(t, "---") // an unknown endpoint that fails three times in a row is withdrawn
		next := w.after(prev)
		if len(steer.Diff(prev, next)) == 0 {
			b.Fatal("nothing happened")
		}
		prev = next
	}
}
