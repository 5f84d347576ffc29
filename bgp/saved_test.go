package bgp

import (
	"bytes"
	"maps"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gslb/bgp/wire"
)

// What was written bit by bit is what would be written all at once.
func TestSavedDifferencesAddUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &story{rib: NewRIB(), now: noon,
			a: Peer{Partner: "sibtel", Address: netip.MustParseAddr("127.0.0.9"), ASN: 64501},
			b: Peer{Partner: "sibtel", Address: netip.MustParseAddr("127.0.0.10"), ASN: 64501},
		}
		partner := believing("sibtel")
		partner.Accept.MaxPrefixes = 1 << 20
		apply := func() { s.rib.Apply([]Partner{partner}, []Peer{s.a, s.b}, s.now) }
		apply()
		s.sync(s.a, "")
		s.sync(s.b, "")
		file := map[string][]byte{}
		var written *Table
		peers := rapid.SampledFrom([]*Peer{&s.a, &s.b})
		t.Repeat(map[string]func(*rapid.T){
			"routes": func(t *rapid.T) {
				withdraw, first := rapid.Bool().Draw(t, "withdraw"), rapid.IntRange(0, 2000).Draw(t, "first")
				changes := make([]wire.Change, rapid.IntRange(1, 1000).Draw(t, "prefixes"))
				for i := range changes {
					changes[i].Prefix = netip.PrefixFrom(netip.AddrFrom4([4]byte{60, byte((first + i) >> 8), byte(first + i), 0}), 24)
					changes[i].Withdraw = withdraw
					if !withdraw {
						changes[i].Path = wire.Path{Origin: 64501, PathLength: uint32(first % 3)}
					}
				}
				s.rib.Routes(*peers.Draw(t, "peer"), changes, s.now)
			},
			"believe": func(t *rapid.T) {
				partner.Accept.Within = nil
				if rapid.Bool().Draw(t, "less") {
					partner.Accept.Within = []netip.Prefix{netip.MustParsePrefix("60.0.0.0/14")}
				}
				apply()
			},
			"lose": func(t *rapid.T) {
				p := *peers.Draw(t, "peer")
				s.rib.Down(p, Cause{Administrative: rapid.Bool().Draw(t, "will"), Text: "x"}, s.now)
				s.sync(p, "60.0.0.0/24")
			},
			"save": func(t *rapid.T) {
				saved, err := s.rib.SaveSince(written, s.now)
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range saved.Gone {
					delete(file, key)
				}
				maps.Copy(file, saved.Set)
				written = saved.Table
				whole, err := s.rib.Save(s.now)
				if err != nil {
					t.Fatal(err)
				}
				if !maps.EqualFunc(whole, file, bytes.Equal) {
					t.Fatalf("%d pieces were written, %d make the whole", len(file), len(whole))
				}
			},
		})
	})
}

// BenchmarkSaveAfterOneUpdate is what the saving of a million routes costs when one of them has changed.
func BenchmarkSaveAfterOneUpdate(b *testing.B) {
	r := NewRIB()
	t := many(1_000_000)
	t.peers[0].address = netip.MustParseAddr("127.0.0.9")
	r.latest.Store(t)
	b.ReportAllocs()
	pieces := 0
	for i := 0; b.Loop(); i++ {
		old := r.Latest()
		e := edit{prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(16 + i%15), byte(i >> 4), byte(i), 0}), 24)}
		e.claim = t.pages[0].claims[0]
		r.latest.Store(old.edited(uint64(i), []edit{e}, t.peers))
		saved, err := r.SaveSince(old, time.Unix(int64(i), 0))
		if err != nil {
			b.Fatal(err)
		}
		pieces = max(pieces, len(saved.Set))
	}
	if pieces > 3 {
		b.Errorf("%d pieces for one change", pieces)
	}
}
