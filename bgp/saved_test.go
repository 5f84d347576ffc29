package bgp

import (
	"bytes"
	"maps"
	"net/netip"
	"strings"
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
		r.latest.Store(old.edited([]edit{e}, t.peers))
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

// restart gives the RIB of a server that was started again, at the story's time.
func (s *story) restart(change func(map[string][]byte)) error {
	saved, err := s.rib.Save(s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(saved)
	}
	s.rib = NewRIB()
	err = s.rib.Restore(saved)
	s.rib.Apply([]Partner{believing("sibtel"), believing("uralnet")}, []Peer{s.a, s.b, s.c}, s.now)
	return err
}

func TestRoutesSurviveARestart(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24 203.0.112.0/24 10.0.0.0/8")
	s.sync(s.b, "203.0.113.0/24")
	s.after(time.Minute)
	if err := s.restart(nil); err != nil {
		t.Error(err)
	}
	s.want("203.0.112.0/24=9? 203.0.113.0/24=9?,10?")
	s.after(time.Minute)
	s.sync(s.a, "203.0.113.0/24")
	s.want("203.0.113.0/24=9,10?")
	s.after(13 * time.Minute)
	s.want("203.0.113.0/24=9,10?")
	s.after(time.Minute)
	s.want("203.0.113.0/24=9")
}

func TestRestartDoesNotProlongStaleness(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(14 * time.Minute)
	if err := s.restart(nil); err != nil {
		t.Error(err)
	}
	s.want("203.0.113.0/24=9?")
	s.after(time.Minute)
	s.want("")
}

func TestSessionThatConfirmsNothingDoesNotProlongStalenessOverRestarts(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.after(30 * time.Second)
	for range 15 {
		if err := s.restart(nil); err != nil {
			t.Error(err)
		}
		s.want("203.0.113.0/24=9?")
		s.rib.Up(s.a, Opened{IPv4: true})
		s.after(time.Minute)
	}
	s.want("")
}

// A peer that tells no end of its first routes has confirmed some, and the rest goes when its time is up, also over
// restarts: what nobody confirmed does not pass for confirmed because another route of the same peer was.
func TestRestartDoesNotProlongWhatASessionLeftUnconfirmed(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24 203.0.112.0/24 198.51.100.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(5 * time.Minute)
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.113.0/24")
	s.after(time.Minute)
	s.want("198.51.100.0/24=9? 203.0.112.0/24=9? 203.0.113.0/24=9")
	if err := s.restart(nil); err != nil {
		t.Error(err)
	}
	s.want("198.51.100.0/24=9? 203.0.112.0/24=9? 203.0.113.0/24=9?")
	s.after(8 * time.Minute)
	if err := s.restart(nil); err != nil {
		t.Error(err)
	}
	s.want("198.51.100.0/24=9? 203.0.112.0/24=9? 203.0.113.0/24=9?")
	s.after(time.Minute)
	s.want("203.0.113.0/24=9?")
	s.after(5 * time.Minute)
	s.want("203.0.113.0/24=9?")
	s.after(time.Minute)
	s.want("")
}

func TestRestartWithinAShortStaleKeepsRoutes(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.after(59 * time.Second)
	if err := s.restart(nil); err != nil {
		t.Error(err)
	}
	s.after(15*time.Minute - time.Second)
	s.want("203.0.113.0/24=9?")
	s.after(time.Second)
	s.want("")
}

func TestShortStalenessIsSavedMoreOften(t *testing.T) {
	for stale, want := range map[time.Duration]time.Duration{time.Minute: 6 * time.Second, 15 * time.Minute: time.Minute, 0: time.Minute} {
		s := newStory(t, func(p *Partner) { p.Stale = stale })
		if got := s.rib.SaveInterval(); got != want {
			t.Errorf("routes that outlive their session by %s are saved each %s, want %s", stale, got, want)
		}
	}
}

func TestDamagedPageIsPassedOver(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	err := s.restart(func(saved map[string][]byte) { saved["x"] = []byte("what is this") })
	if err == nil || !strings.Contains(err.Error(), `saved routes from "x" on: not a saved page of routes`) {
		t.Errorf("error %v", err)
	}
	s.want("203.0.113.0/24=9?")
}

func FuzzDecoded(f *testing.F) {
	s := &story{rib: NewRIB(), now: noon, a: Peer{Partner: "sibtel", Address: netip.MustParseAddr("127.0.0.9"), ASN: 64501}}
	s.rib.Apply([]Partner{believing("sibtel")}, []Peer{s.a}, noon)
	s.sync(s.a, "203.0.113.0/24 203.0.112.0/20")
	saved, err := s.rib.Save(noon)
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range saved {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		edits, err := newPageReader().page(b)
		if err == nil && len(edits) > len(b)/10 {
			t.Errorf("%d routes of %d octets", len(edits), len(b))
		}
	})
}
