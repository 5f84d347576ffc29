package health

import (
	"net/netip"
	"testing"
	"time"
)

func TestPulseNoticesThatTheProcessStoodStill(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name                  string
		wall, monotonic, want time.Duration
	}{
		{"on time", 250 * ms, 250 * ms, 0},
		{"a little late", 1200 * ms, 1200 * ms, 0},
		{"stopped", 10 * time.Second, 10 * time.Second, 10 * time.Second},
		{"the machine slept", time.Hour + 250*ms, 250 * ms, time.Hour},
		{"the clock was set back", -time.Hour + 250*ms, 250 * ms, time.Hour},
		{"the clock was corrected a little", 750 * ms, 250 * ms, 0},
	} {
		if got := still(c.wall, c.monotonic); got != c.want {
			t.Errorf("%s: stood still for %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFailuresAcrossAGapDoNotCount(t *testing.T) {
	var p pulse
	begin := time.Now()
	after := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	if p.crossed(after(0), after(10_000)) {
		t.Error("without a pulse nobody knows")
	}
	p.beat(after(0))
	p.beat(after(250))
	for _, c := range []struct {
		name       string
		start, end int
		crossed    bool
	}{
		{"an ordinary probe", 100, 700, false},
		{"the first to notice the gap", 100, 61_000, true},
	} {
		if got := p.crossed(after(c.start), after(c.end)); got != c.crossed {
			t.Errorf("%s: crossed %v, want %v", c.name, got, c.crossed)
		}
	}
	if gap := p.beat(after(61_100)); gap < 60*time.Second {
		t.Errorf("the gap is of %v", gap)
	}
	if !p.crossed(after(100), after(61_200)) {
		t.Error("a probe that began before the gap did not cross it")
	}
	if p.crossed(after(61_200), after(61_300)) {
		t.Error("a probe that began after the gap crossed it")
	}
}

// After a gap the probes leave at their places in the interval, and not all at once.
func TestProbesThatWereMissedAreNotMadeUpFor(t *testing.T) {
	late := 0
	for i := range 200 {
		s := NewSchedule(Target{Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), Check: usualCheck}.Key(), epoch)
		s = s.Done(epoch.Add(time.Second))
		woke := epoch.Add(10 * time.Minute)
		if !s.Missed(woke) {
			t.Fatalf("a probe that was due at %v is not missed at %v", s.Due(), woke)
		}
		s = s.Skip(woke)
		if wait := s.Due().Sub(woke); wait < 0 || wait > 10*time.Second {
			t.Fatalf("the next probe leaves after %v", wait)
		} else if wait > 5*time.Second {
			late++
		}
	}
	if late < 60 || late > 140 {
		t.Errorf("%d of 200 leave in the second half of the interval", late)
	}
}
