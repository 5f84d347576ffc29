package bgp

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb/bgp/wire"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// story is a RIB with a partner of two peers and another of one, and what is done to it.
type story struct {
	t    *testing.T
	rib  *RIB
	now  time.Time
	a, b Peer // of sibtel
	c    Peer // of uralnet
}

func newStory(t *testing.T, change func(*Partner)) *story {
	s := &story{
		t: t, rib: NewRIB(), now: noon,
		a: Peer{Partner: "sibtel", Address: netip.MustParseAddr("127.0.0.9"), ASN: 64501},
		b: Peer{Partner: "sibtel", Address: netip.MustParseAddr("127.0.0.10"), ASN: 64501},
		c: Peer{Partner: "uralnet", Address: netip.MustParseAddr("127.0.0.11"), ASN: 64502},
	}
	s.apply(change)
	return s
}

// apply makes the partners those of the story, one of them changed.
func (s *story) apply(change func(*Partner)) {
	sibtel := believing("sibtel")
	if change != nil {
		change(&sibtel)
	}
	s.rib.Apply([]Partner{sibtel, believing("uralnet")}, []Peer{s.a, s.b, s.c}, s.now)
}

func believing(name string) Partner {
	return Partner{Name: name, Stale: 15 * time.Minute, Accept: Accept{IPv4: Lengths{8, 24}, IPv6: Lengths{16, 48}, MaxPrefixes: 100}}
}

// announce announces prefixes, or, with a "-" before them, withdraws them.
func (s *story) announce(p Peer, prefixes string) bool {
	var changes []wire.Change
	for _, word := range strings.Fields(prefixes) {
		text, withdraw := strings.CutPrefix(word, "-")
		changes = append(changes, wire.Change{
			Prefix: netip.MustParsePrefix(text), Withdraw: withdraw,
			Path: wire.Path{Origin: p.ASN, NeighbourASN: p.ASN, PathLength: 1},
		})
	}
	return s.rib.Routes(p, changes, s.now)
}

// sync brings a session up with a whole announcement.
func (s *story) sync(p Peer, prefixes string) {
	s.rib.Up(p, Opened{IPv4: true})
	s.announce(p, prefixes)
	s.rib.EndOfRIB(p, false, s.now)
}

func (s *story) after(d time.Duration) {
	s.now = s.now.Add(d)
	s.rib.Tick(s.now)
}

// want checks what is steered by: prefix, then each peer's last octet, with a "?" when it is stale.
func (s *story) want(want string) {
	s.t.Helper()
	var words []string
	for p, routes := range s.rib.Latest().All() {
		word := p.String() + "="
		for _, r := range routes {
			if !r.Static() {
				b := r.Peer.As4()
				word += fmt.Sprint(b[3])
			} else {
				word += "static"
			}
			if !r.Stale.IsZero() {
				word += "?"
			}
			word += ","
		}
		words = append(words, strings.TrimSuffix(word, ","))
	}
	if got := strings.Join(words, " "); got != want {
		s.t.Errorf("at +%s: got %q, want %q", s.now.Sub(noon), got, want)
	}
}

func TestRoutesComeAndGo(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24 203.0.112.0/20")
	s.want("203.0.112.0/20=9 203.0.113.0/24=9")
	s.announce(s.a, "-203.0.112.0/20 198.51.100.0/24")
	s.want("198.51.100.0/24=9 203.0.113.0/24=9")
}

// A withdrawal is a change of what a peer brings, as an announcement is; to say again what was said is none.
func TestAccountTellsWhenAPeerLastChangedWhatItBrings(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
	i, _ := s.rib.of(s.a)
	changed := func() time.Duration { return s.rib.Latest().Accounts()[i].Changed.Sub(noon) }
	for _, step := range []struct {
		name string
		do   func()
		want time.Duration
	}{
		{"the same again", func() { s.announce(s.a, "203.0.113.0/24") }, 0},
		{"a withdrawal", func() { s.announce(s.a, "-203.0.113.0/24") }, 2 * time.Minute},
		{"one of what is not there", func() { s.announce(s.a, "-203.0.113.0/24") }, 2 * time.Minute},
		{"an announcement", func() { s.announce(s.a, "203.0.114.0/24") }, 4 * time.Minute},
		{"the partner's will", func() { s.rib.Down(s.a, Cause{Administrative: true, Text: "x"}, s.now) }, 5 * time.Minute},
	} {
		s.after(time.Minute)
		step.do()
		if got := changed(); got != step.want {
			t.Errorf("%s: changed at +%v, want +%v", step.name, got, step.want)
		}
	}
}

func TestSeveralPeersAnnounceOnePrefix(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.sync(s.b, "203.0.113.0/24")
	s.sync(s.c, "203.0.113.0/24")
	s.want("203.0.113.0/24=9,10,11")
	s.announce(s.b, "-203.0.113.0/24")
	s.want("203.0.113.0/24=9,11")
}

func TestFirstRoutesCountWhenTheyAreComplete(t *testing.T) {
	t.Run("by end-of-RIB", func(t *testing.T) {
		s := newStory(t, nil)
		s.rib.Up(s.a, Opened{IPv4: true, IPv6: true})
		s.announce(s.a, "203.0.113.0/24")
		s.want("")
		s.rib.EndOfRIB(s.a, true, s.now)
		s.want("")
		s.rib.EndOfRIB(s.a, false, s.now)
		s.want("203.0.113.0/24=9")
	})
	t.Run("by silence", func(t *testing.T) {
		s := newStory(t, nil)
		s.rib.Up(s.a, Opened{IPv4: true})
		s.after(10 * time.Second)
		s.announce(s.a, "203.0.113.0/24 203.0.112.0/24")
		s.after(900 * time.Millisecond)
		s.want("")
		s.after(100 * time.Millisecond)
		s.want("203.0.112.0/24=9 203.0.113.0/24=9")
	})
	t.Run("by a longer silence, when it was to tell the end", func(t *testing.T) {
		s := newStory(t, nil)
		s.rib.Up(s.a, Opened{IPv4: true, Ends: true})
		s.announce(s.a, "203.0.113.0/24")
		s.after(quietBeforeEnd - time.Millisecond)
		s.want("")
		s.after(time.Millisecond)
		s.want("203.0.113.0/24=9")
	})
}

func TestLostSessionLeavesStaleRoutes(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24 203.0.112.0/24")
	s.after(time.Minute)
	s.rib.Down(s.a, Cause{Text: "hold timer expired"}, s.now)
	s.want("203.0.112.0/24=9? 203.0.113.0/24=9?")
	s.after(15*time.Minute - time.Second)
	s.want("203.0.112.0/24=9? 203.0.113.0/24=9?")
	s.after(time.Second)
	s.want("")
}

// Two peers whose sessions are each the first one: the end of what one has left is not that of the other's.
func TestWhatIsLeftOfOnePeerEndsAlone(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.sync(s.c, "198.51.100.0/24")
	s.rib.Down(s.a, Cause{Text: "hold timer expired"}, s.now)
	s.after(time.Minute)
	s.rib.Down(s.c, Cause{Text: "hold timer expired"}, s.now)
	s.after(14 * time.Minute)
	s.want("198.51.100.0/24=11?")
	s.after(time.Minute)
	s.want("")
}

func TestLossChangesTheOrderOfRoutesThatHaveOthers(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
	s.sync(s.c, "203.0.113.0/24")
	before := s.rib.Latest()
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	if got := fmt.Sprint(slices.Collect(s.rib.Latest().Changed(before))); got != "[203.0.113.0/24]" {
		t.Errorf("changed: %s, want the prefix that another announces too", got)
	}
	before = s.rib.Latest()
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
	if got := fmt.Sprint(slices.Collect(s.rib.Latest().Changed(before))); got != "[203.0.113.0/24]" {
		t.Errorf("changed: %s, want the prefix that another announces too", got)
	}
}

func TestPartnersWillTakesRoutesAwayAtOnce(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.sync(s.b, "203.0.112.0/24")
	s.rib.Down(s.a, Cause{Administrative: true, Text: "administrative shutdown"}, s.now)
	s.want("203.0.112.0/24=10")
}

func TestPeerThatComesBackConfirmsWhatItStillHas(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(time.Minute)
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.113.0/24")
	s.want("203.0.112.0/24=9? 203.0.113.0/24=9?")
	s.rib.EndOfRIB(s.a, false, s.now)
	s.want("203.0.113.0/24=9")
	for _, routes := range s.rib.Latest().All() {
		if age := s.now.Sub(routes[0].Since); age != time.Minute {
			t.Errorf("a confirmed route is %s old, want a minute", age)
		}
	}
}

// RFC 4724 section 4.2: each family has an end of its own.
func TestEndOfRIBCountsForItsFamilyAlone(t *testing.T) {
	both := Opened{IPv4: true, IPv6: true, Ends: true}
	s := newStory(t, func(p *Partner) { p.Accept.MaxPrefixes = 5 })
	s.rib.Up(s.a, both)
	s.announce(s.a, "203.0.112.0/24 203.0.113.0/24 2001:db8:1::/48 2001:db8:2::/48")
	s.want("")
	s.rib.EndOfRIB(s.a, false, s.now)
	s.want("203.0.112.0/24=9 203.0.113.0/24=9")
	s.announce(s.a, "-203.0.112.0/24 203.0.114.0/24 -2001:db8:1::/48")
	s.want("203.0.113.0/24=9 203.0.114.0/24=9")
	s.rib.EndOfRIB(s.a, true, s.now)
	s.want("203.0.113.0/24=9 203.0.114.0/24=9 2001:db8:2::/48=9")

	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(time.Minute)
	s.rib.Up(s.a, both)
	s.announce(s.a, "203.0.114.0/24 2001:db8:3::/48")
	s.rib.EndOfRIB(s.a, false, s.now)
	s.want("203.0.114.0/24=9 2001:db8:2::/48=9?")
	if s.announce(s.a, "2001:db8:4::/48 2001:db8:5::/48 203.0.115.0/24 203.0.116.0/24") {
		t.Error("three IPv6 prefixes that are held back and three of IPv4 are not more than five")
	}
	s.want("203.0.114.0/24=9? 2001:db8:2::/48=9?")
	s.after(14 * time.Minute)
	s.want("203.0.114.0/24=9?")
	s.after(time.Minute)
	s.want("")
}

// A family whose end never comes counts by its silence, and what is left of it by its time.
func TestFamilyThatNeverEndsCountsBySilence(t *testing.T) {
	s := newStory(t, nil)
	s.rib.Up(s.a, Opened{IPv4: true, IPv6: true, Ends: true})
	s.announce(s.a, "203.0.112.0/24 2001:db8:1::/48")
	s.after(quietBeforeEnd - time.Second)
	s.rib.EndOfRIB(s.a, false, s.now)
	s.after(quietBeforeEnd - time.Second)
	s.want("203.0.112.0/24=9")
	s.after(time.Second)
	s.want("203.0.112.0/24=9 2001:db8:1::/48=9")
}

// A peer that no longer speaks of a family has none of it left.
func TestFamilyThatIsNoLongerCarriedLeavesWithTheLastEnd(t *testing.T) {
	s := newStory(t, nil)
	s.rib.Up(s.a, Opened{IPv4: true, IPv6: true})
	s.announce(s.a, "203.0.112.0/24 2001:db8:1::/48")
	s.rib.EndOfRIB(s.a, false, s.now)
	s.rib.EndOfRIB(s.a, true, s.now)
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.sync(s.a, "203.0.112.0/24")
	s.want("203.0.112.0/24=9")
}

func TestWithoutEndOfRIBTheRestLeavesWhenItsTimeIsUp(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(time.Minute)
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.113.0/24")
	s.after(quiet)
	s.want("203.0.112.0/24=9? 203.0.113.0/24=9")
	s.after(14*time.Minute - quiet)
	s.want("203.0.113.0/24=9")
}

// flood announces n prefixes of the first peer, none of which is among the so many before.
func (s *story) flood(before, n int) {
	changes := make([]wire.Change, n)
	for i := range changes {
		at := before + i
		changes[i].Prefix = netip.PrefixFrom(netip.AddrFrom4([4]byte{60, byte(at >> 16), byte(at >> 8), byte(at)}), 32)
		changes[i].Path = wire.Path{Origin: 64501, NeighbourASN: 64501}
	}
	s.rib.Routes(s.a, changes, s.now)
}

func TestFirstRoutesOfAPeerThatNeverEndsCountInTheEnd(t *testing.T) {
	s := newStory(t, func(p *Partner) { p.Accept.MaxPrefixes, p.Accept.IPv4.Max = 1<<20, 32 })
	s.rib.Up(s.a, Opened{IPv4: true})
	sent := 0
	more := func() {
		n := max(trickle, sent/999+1)
		s.flood(sent, n)
		sent += n
	}
	const step = quiet * 8 / 10
	for range longestSync/step - 1 {
		more()
		s.after(step)
	}
	s.want("")
	more()
	s.after(step)
	if got := s.rib.Latest().Len(); sent < 100*trickle || got != sent {
		t.Errorf("%d prefixes count after %v, want %d", got, longestSync, sent)
	}
}

// A machine may be too busy to take routes in for a moment, and a slow line bring few of many at a time.
func TestFirstRoutesOfALargeTableAreWaitedForLonger(t *testing.T) {
	s := newStory(t, func(p *Partner) { p.Accept.MaxPrefixes, p.Accept.IPv4.Max = 1<<20, 32 })
	s.rib.Up(s.a, Opened{IPv4: true})
	sent := 200_000
	s.flood(0, sent)
	for range 4 {
		s.after(2*quiet - time.Millisecond)
		s.flood(sent, trickle)
		sent += trickle
		s.want("")
	}
	s.after(quiet + 204*quietPerThousand - time.Millisecond)
	s.want("")
	s.after(time.Millisecond)
	if got := s.rib.Latest().Len(); got != sent {
		t.Errorf("%d prefixes count, want %d", got, sent)
	}
}

// A peer with a large table changes some of it every second, and may not tell the end of its first routes.
func TestFirstRoutesCountWhileFewOfThemGoOnChanging(t *testing.T) {
	s := newStory(t, nil)
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.112.0/24")
	for range 3 {
		s.after(quiet / 4)
		s.announce(s.a, "203.0.113.0/24 203.0.114.0/24")
		s.want("")
	}
	s.after(quiet / 4)
	s.want("203.0.112.0/24=9 203.0.113.0/24=9 203.0.114.0/24=9")
}

func TestAPeerThatSaysFirstRoutesAgainAndAgainIsHeldBackNoLonger(t *testing.T) {
	s := newStory(t, func(p *Partner) { p.Accept.MaxPrefixes = 3 })
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.112.0/24 203.0.113.0/24")
	s.want("")
	if !s.announce(s.a, "203.0.112.0/24 203.0.113.0/24") {
		t.Error("two prefixes of three were too many")
	}
	s.want("203.0.112.0/24=9 203.0.113.0/24=9")
}

func TestFirstRoutesAreJudgedByWhatIsBelievedWhenTheyCount(t *testing.T) {
	s := newStory(t, nil)
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.112.0/24 198.51.100.0/24")
	sibtel := believing("sibtel")
	sibtel.Accept.Within = []netip.Prefix{netip.MustParsePrefix("203.0.112.0/20")}
	s.rib.Apply([]Partner{sibtel, believing("uralnet")}, []Peer{s.a, s.b, s.c}, s.now)
	s.rib.EndOfRIB(s.a, false, s.now)
	s.want("203.0.112.0/24=9")
}

// A session without routes, as one that is only beginning, keeps its place when others come before it.
func TestANewPartnerTakesNobodysPlace(t *testing.T) {
	s := newStory(t, nil)
	s.rib.Up(s.c, Opened{IPv4: true})
	newcomer := Peer{Partner: "amurnet", Address: netip.MustParseAddr("127.0.0.12"), ASN: 64503}
	s.rib.Apply([]Partner{believing("amurnet"), believing("sibtel"), believing("uralnet")}, []Peer{newcomer, s.a, s.b, s.c}, s.now)
	s.announce(s.c, "203.0.113.0/24")
	s.rib.EndOfRIB(s.c, false, s.now)
	s.want("203.0.113.0/24=11")
}

// The sessions tell of a peer's end after the configuration has left it out, or not at all.
func TestAPartnerThatLeavesTakesItsSessionsAlong(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24")
	s.rib.Up(s.b, Opened{IPv4: true})
	s.announce(s.b, "203.0.113.0/24")
	s.sync(s.c, "198.51.100.0/24")
	s.rib.Apply([]Partner{believing("uralnet")}, []Peer{s.c}, s.now)
	s.after(quiet)
	s.want("198.51.100.0/24=11")
	s.rib.Lost(s.now)
	s.want("198.51.100.0/24=11?")
}

func TestFlappingDoesNotProlongStaleness(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	for range 14 {
		s.after(time.Minute)
		s.rib.Up(s.a, Opened{IPv4: true})
		s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	}
	s.want("203.0.113.0/24=9?")
	s.after(time.Minute)
	s.want("")
}

func TestFlappingProlongsNothingThatNoSessionConfirms(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	for range 14 {
		s.rib.Up(s.a, Opened{IPv4: true})
		s.announce(s.a, "203.0.113.0/24") // and no end-of-RIB: it counts by its silence
		s.after(time.Minute)
		s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	}
	s.want("203.0.112.0/24=9? 203.0.113.0/24=9?")
	s.after(time.Minute)
	s.want("203.0.113.0/24=9?")
	s.after(14 * time.Minute)
	s.want("")
}

func TestSpeakersDeathMakesEverythingStale(t *testing.T) {
	s := newStory(t, func(p *Partner) { p.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	s.sync(s.a, "203.0.113.0/24")
	s.sync(s.c, "203.0.112.0/24")
	s.rib.Lost(s.now)
	s.want("192.0.2.0/24=static 203.0.112.0/24=11? 203.0.113.0/24=9?")
}

func TestTooManyPrefixesEndTheSessionAndKeepTheLastSet(t *testing.T) {
	few := func(p *Partner) { p.Accept.MaxPrefixes = 2 }
	t.Run("in the first announcement", func(t *testing.T) {
		s := newStory(t, few)
		s.sync(s.a, "203.0.112.0/24")
		s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
		s.rib.Up(s.a, Opened{IPv4: true})
		if s.announce(s.a, "203.0.113.0/24 203.0.114.0/24 203.0.115.0/24") {
			t.Error("three of two were taken")
		}
		s.want("203.0.112.0/24=9?")
	})
	t.Run("but not those of a session that was lost", func(t *testing.T) {
		s := newStory(t, few)
		s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
		s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
		s.rib.Up(s.a, Opened{IPv4: true})
		s.announce(s.a, "203.0.114.0/24 203.0.115.0/24")
		s.after(quiet)
		if !s.announce(s.a, "203.0.115.0/24") {
			t.Error("stale routes were counted")
		}
		if s.announce(s.a, "203.0.116.0/24") {
			t.Error("the third of two was taken")
		}
	})
	t.Run("by a lower bound", func(t *testing.T) {
		s := newStory(t, nil)
		s.sync(s.a, "203.0.112.0/24 203.0.113.0/24 10.0.0.0/8")
		s.sync(s.b, "203.0.113.0/24")
		s.apply(few)
		if s.rib.Within(s.a, s.now) || !s.rib.Within(s.a, s.now) {
			t.Error("three of two stay, or are told twice")
		}
		if !s.rib.Within(s.b, s.now) || !s.rib.Within(s.c, s.now) {
			t.Error("one or none of two is too many")
		}
		s.want("203.0.112.0/24=9? 203.0.113.0/24=9?,10")
	})
	t.Run("later, refused ones counted", func(t *testing.T) {
		s := newStory(t, few)
		s.sync(s.a, "203.0.112.0/24 10.0.0.0/8")
		if !s.announce(s.a, "-203.0.112.0/24 203.0.113.0/24 203.0.113.0/24") {
			t.Error("two of two were refused")
		}
		if s.announce(s.a, "203.0.114.0/24") {
			t.Error("the third of two was taken")
		}
		s.want("203.0.113.0/24=9?")
	})
}

func TestConfigChangeJudgesAnew(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24 198.51.100.0/24")
	s.sync(s.c, "192.0.2.0/24")
	narrow := believing("sibtel")
	narrow.Accept.Within = []netip.Prefix{netip.MustParsePrefix("203.0.112.0/20")}
	narrow.Networks = []netip.Prefix{netip.MustParsePrefix("198.18.0.0/15")}
	s.rib.Apply([]Partner{narrow, believing("uralnet")}, []Peer{s.a, s.c}, s.now)
	s.want("192.0.2.0/24=11 198.18.0.0/15=static 203.0.113.0/24=9")
	s.rib.Apply([]Partner{believing("sibtel")}, []Peer{s.a}, s.now)
	s.want("198.51.100.0/24=9 203.0.113.0/24=9")
	before := s.rib.Latest()
	s.rib.Apply([]Partner{believing("sibtel")}, []Peer{s.a}, s.now)
	if s.rib.Latest() != before {
		t.Error("a config that changes nothing made a new table")
	}
}

func TestTallies(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24 10.0.0.0/8 11.0.0.0/25 12.0.0.0/25")
	i, _ := s.rib.of(s.a)
	tally := s.rib.Latest().tallies[i]
	if tally.Received() != 4 || tally.Believed() != 1 || fmt.Sprint(tally.Refused()) != "map[bogus:1 length:2]" {
		t.Errorf("received %d, believed %d, refused %v", tally.Received(), tally.Believed(), tally.Refused())
	}
}
