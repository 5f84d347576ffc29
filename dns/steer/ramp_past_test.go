package steer_test

import (
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gslb/dns/steer"
)

// Two servers that saw a place come back at different times, by d, differ for no more than the part d/length of the
// networks, each of which is only late at the second.
func TestServersThatSawAPlaceComeBackApartDifferByThatPart(t *testing.T) {
	const apart, networks = 30 * time.Second, 20_000
	first := returning(t, shop("weighted", "all", 100, 100)).snapshot()
	w := returning(t, shop("weighted", "all", 100, 100))
	w.tenures = steer.NewTenures(map[string]steer.Tenure{"shop a": {Since: noon.Add(apart)}})
	second := w.snapshot()
	for _, after := range []time.Duration{time.Minute, 5 * time.Minute, 9 * time.Minute} {
		differ := 0
		for i := range networks {
			client := netip.AddrFrom4([4]byte{100, byte(i >> 8), byte(i), 1})
			at, late := given(first, client, after, 1), given(second, client, after, 1)
			if at != late {
				differ++
			}
			if late && !at {
				t.Fatalf("%s has joined at the server that began later, and not at the other", client)
			}
			if at && !given(second, client, after+apart, 1) {
				t.Fatalf("%s is still late after the time by which the servers are apart", client)
			}
		}
		if got, want := float64(differ)/networks, apart.Seconds()/600; math.Abs(got-want) > 0.005 {
			t.Errorf("after %s %.3f of the networks differ, want %.3f", after, got, want)
		}
	}
}

// slowRamp is the obvious twin of what a server remembers of one place that ramps.
type slowRamp struct {
	serving bool
	since   time.Time // of the ramp; zero: none
}

func (r *slowRamp) turn(serving bool, now time.Time) {
	switch {
	case !serving:
		r.since = time.Time{}
	case !r.serving:
		r.since = now
	case r.since.After(now):
		r.since = now // the clock was set back
	case !r.since.IsZero() && !now.Before(r.since.Add(10*time.Minute)):
		r.since = time.Time{}
	}
	r.serving = serving
}

// Whatever happens to a place on its way back: it falls and rises again, is drained and undrained, the server restarts, the
// clock is set forward or back; how far it has got is what the twin says, and the scope never moves.
func TestRampsOutliveWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := shop(rapid.SampledFrom([]string{"weighted", "hash"}).Draw(t, "pick"), "all", rapid.SampledFrom([]int{0, 1, 100}).Draw(t, "weight of a"), 100)
		text = strings.Replace(text, "a: {}", "a: {ramp: 10m}", 1)
		text = "checks: {c: {tcp: {port: 80}, window: 1, fall: 1, rise: 1}}\n" + strings.Replace(text, "    steer:", "    check: c\n    steer:", 1)
		w := newWorld(t, text)
		policies := map[bool]*steer.Policy{false: w.policy, true: compile(t, text+"drains: [{target: a, reason: works}]\n")}
		line, twin, healthy, drained := &server{world: w}, slowRamp{serving: true}, true, false
		line.next()
		for range rapid.IntRange(1, 15).Draw(t, "happenings") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 200).Draw(t, "seconds")) * time.Second)
			switch what := rapid.SampledFrom([]string{"falls", "rises", "drain", "undrain", "restart", "forward", "back", "nothing"}).Draw(t, "happening"); what {
			case "falls", "rises":
				healthy = what == "rises"
				w.check("192.0.2.1", map[bool]string{false: "-", true: "+"}[healthy])
			case "drain", "undrain":
				drained = what == "drain"
				w.policy = policies[drained]
			case "restart":
				line.latest = nil
			case "forward":
				w.now = w.now.Add(time.Hour)
			case "back":
				w.now = w.now.Add(-time.Duration(rapid.IntRange(1, 2000).Draw(t, "seconds back")) * time.Second)
			}
			line.next()
			twin.turn(healthy && !drained, w.now)
			twin.compare(t, w, line.latest)
		}
	})
}

// compare holds a snapshot to one that is made of what the twin knows.
func (r *slowRamp) compare(t *rapid.T, w *world, s *steer.Snapshot) {
	view := s.Overview(w.now)[0].Places[0].Ramp
	if r.since.IsZero() != (view == nil) || view != nil && !view.Since.Equal(r.since) {
		t.Fatalf("at %s it ramps as %+v, want since %s", w.now, view, r.since)
	}
	plain := *w
	plain.tenures = nil
	if !r.since.IsZero() {
		plain.tenures = steer.NewTenures(map[string]steer.Tenure{"shop a": {Since: r.since}})
	}
	want := plain.snapshot()
	for i := range 20 {
		client := netip.AddrFrom4([4]byte{100, 1, byte(i), 1})
		d, got := decideAt(s, client, w.now)
		if _, want := decideAt(want, client, w.now); got != want || got == "[]" {
			t.Fatalf("%s gets %s, want %s", client, got, want)
		}
		if d.Span != 24 {
			t.Fatalf("the scope is %d, want 24", d.Span)
		}
	}
}
