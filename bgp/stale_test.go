package bgp

import (
	"slices"
	"testing"
	"time"
)

// stale gives for how long each route of the first peer has been stale, by prefix.
func (s *story) stale() map[string]time.Duration {
	ages := map[string]time.Duration{}
	for p, routes := range s.rib.Latest().All() {
		for _, r := range routes {
			if r.Peer == s.a.Address && !r.Stale.IsZero() {
				ages[p.String()] = s.now.Sub(r.Stale)
			}
		}
	}
	return ages
}

// A session that comes and goes says nothing of what it did not come to confirm: that is as old as it was.
func TestStaleRoutesTellWhenTheyWereConfirmedLast(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(10 * time.Minute)
	s.rib.Up(s.a, Opened{IPv4: true})
	s.announce(s.a, "203.0.113.0/24")
	s.after(quiet)
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(time.Minute)
	check := func(when string) {
		t.Helper()
		got := s.stale()
		if old, young := got["203.0.112.0/24"], got["203.0.113.0/24"]; old != 11*time.Minute+quiet || young != time.Minute {
			t.Errorf("%s: stale for %v and %v", when, old, young)
		}
		for _, a := range s.rib.Latest().Accounts() {
			if a.Peer == s.a.Address && (a.Stale != 2 || s.now.Sub(a.StaleSince) != 11*time.Minute+quiet) {
				t.Errorf("%s: %d stale for %v", when, a.Stale, s.now.Sub(a.StaleSince))
			}
		}
	}
	check("before")
	saved, err := s.rib.Save(s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.rib = NewRIB()
	if err := s.rib.Restore(saved); err != nil {
		t.Fatal(err)
	}
	s.apply(nil)
	check("after a restart")
}

func TestStaleRoutesThatLeaveAreTold(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.112.0/24 203.0.113.0/24 10.0.0.0/8")
	s.sync(s.c, "203.0.113.0/24")
	s.rib.Lost(s.now)
	s.sync(s.c, "203.0.113.0/24")
	for _, c := range []struct {
		age  time.Duration
		want []Expired
	}{
		{15*time.Minute - time.Second, nil},
		{15 * time.Minute, []Expired{{"sibtel", s.a.Address, 2, 15 * time.Minute}}}, // the bogus one steered nobody
		{16 * time.Minute, nil},
	} {
		if _, got := s.rib.tick(noon.Add(c.age)); !slices.Equal(got, c.want) {
			t.Errorf("at +%v: %v, want %v", c.age, got, c.want)
		}
	}
}

func TestAnotherTimeForStaleRoutesHoldsAtOnce(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "203.0.113.0/24")
	s.rib.Down(s.a, Cause{Text: "connection closed"}, s.now)
	s.after(time.Minute)
	s.apply(func(p *Partner) { p.Stale = time.Hour })
	s.after(58 * time.Minute)
	s.want("203.0.113.0/24=9?")
	<-s.rib.wake // that was for all before
	s.apply(func(p *Partner) { p.Stale = 10 * time.Minute })
	select {
	case <-s.rib.wake:
	default:
		t.Error("nobody looks at the clock")
	}
	s.after(0)
	s.want("")
}
