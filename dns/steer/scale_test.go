package steer_test

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/bgp/wire"
	"gslb/dns/steer"
)

// million is a RIB into which two partners have announced a million prefixes, spread over IPv4 as those
// of a full table are.
type million struct {
	rib      *bgp.RIB
	peers    [2]bgp.Peer
	prefixes []netip.Prefix
	now      time.Time
}

func newMillion(tb testing.TB) *million {
	m := &million{rib: bgp.NewRIB(), now: noon}
	var partners []bgp.Partner
	for i, name := range []string{"sibtel", "neva"} {
		partners = append(partners, bgp.Partner{Name: name, Stale: time.Minute, Accept: bgp.Accept{
			IPv4: bgp.Lengths{Min: 8, Max: 24}, IPv6: bgp.Lengths{Min: 16, Max: 48}, MaxPrefixes: 2_000_000,
		}})
		m.peers[i] = bgp.Peer{Partner: name, Address: netip.AddrFrom4([4]byte{127, 0, 0, byte(9 + i)}), ASN: 64501}
	}
	m.rib.Apply(partners, m.peers[:], m.now)
	for _, p := range m.peers {
		m.rib.Up(p, bgp.Opened{IPv4: true})
	}
	x, seen := uint32(1), map[netip.Prefix]bool{}
	for len(seen) < 1_000_000 {
		x = x*1664525 + 1013904223
		a := netip.AddrFrom4([4]byte{byte(11 + x>>24%80), byte(x >> 16), byte(x >> 8), 0})
		seen[netip.PrefixFrom(a, 20+int(x>>4%5)).Masked()] = true
	}
	for p := range seen {
		m.prefixes = append(m.prefixes, p)
	}
	const batch = 4096
	for i := 0; i < len(m.prefixes); i += batch {
		m.announce(tb, i/batch%2, m.prefixes[i:min(i+batch, len(m.prefixes))], 0)
	}
	for _, p := range m.peers {
		m.rib.EndOfRIB(p, false, m.now)
	}
	return m
}

func (m *million) announce(tb testing.TB, peer int, prefixes []netip.Prefix, med uint32) {
	changes := make([]wire.Change, len(prefixes))
	for i, p := range prefixes {
		changes[i] = wire.Change{Prefix: p, Path: wire.Path{Origin: 64501, NeighbourASN: 64501, PathLength: 1 + uint32(i%4), MED: med}}
	}
	if !m.rib.Routes(m.peers[peer], changes, m.now) {
		tb.Fatal("too many prefixes")
	}
}

// BenchmarkOneUpdateOnAMillion is what one UPDATE costs on top of a million prefixes, from the speaker's
// change to the snapshot that answers by it.
func BenchmarkOneUpdateOnAMillion(b *testing.B) {
	w := newWorld(b, cdn)
	empty := liveHeap()
	m := newMillion(b)
	w.routes = m.rib.Latest()
	prev := w.snapshot()
	live := liveHeap() - empty - int64(len(m.prefixes))*32 // less the test's own list
	for i := 0; b.Loop(); i++ {
		m.announce(b, i%2, m.prefixes[i%len(m.prefixes):][:1], uint32(i))
		w.routes = m.rib.Latest()
		prev = w.after(prev)
	}
	b.ReportMetric(float64(live)/1e6, "live-MB")
	runtime.KeepAlive(prev)
}

func liveHeap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// BenchmarkDecideOnAMillion decides for random clients among a million prefixes.
func BenchmarkDecideOnAMillion(b *testing.B) {
	w := newWorld(b, cdn)
	w.routes = newMillion(b).rib.Latest()
	s := w.snapshot()
	clients := make([]steer.Client, 1<<16)
	x := uint32(7)
	for i := range clients {
		x = x*1664525 + 1013904223
		clients[i] = s.Client(netip.AddrFrom4([4]byte{byte(11 + x>>24%80), byte(x >> 16), byte(x >> 8), byte(x)}), steer.Subnet{})
	}
	decideFor(b, s, clients, time.Time{})
}
