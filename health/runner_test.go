package health

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// world is what probes find: a double for the network, on the bubble's clock.
type world struct {
	mu      sync.Mutex
	dead    map[netip.Addr]bool
	hanging map[netip.Addr]bool
	starts  map[netip.Addr][]time.Time
	flying  map[netip.Addr]int
	most    int // probes of one address in flight at once
	cut     int // probes that ended because their context did
}

func newWorld() *world {
	return &world{
		dead: map[netip.Addr]bool{}, hanging: map[netip.Addr]bool{},
		starts: map[netip.Addr][]time.Time{}, flying: map[netip.Addr]int{},
	}
}

func (w *world) set(states map[netip.Addr]bool, a netip.Addr, to bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	states[a] = to
}

// started gives the times of the probes of an address, as time since the start.
func (w *world) started(a netip.Addr, start time.Time) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []time.Duration
	for _, s := range w.starts[a] {
		all = append(all, s.Sub(start))
	}
	return all
}

// counts is how many probes of an address were started and are in flight, and how many of all were cut.
type counts struct{ started, flying, cut int }

func (w *world) counts(a netip.Addr) counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return counts{started: len(w.starts[a]), flying: w.flying[a], cut: w.cut}
}

func (w *world) probe(ctx context.Context, a netip.Addr, c Check) Result {
	w.mu.Lock()
	w.starts[a] = append(w.starts[a], time.Now())
	w.flying[a]++
	w.most = max(w.most, w.flying[a])
	dead, hanging := w.dead[a], w.hanging[a]
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.flying[a]--
		w.mu.Unlock()
	}()
	switch {
	case hanging:
		select {
		case <-time.After(c.Timeout):
			return Result{Cause: "timeout after 3s"}
		case <-ctx.Done():
			w.mu.Lock()
			w.cut++
			w.mu.Unlock()
			return Result{Cause: "cancelled"}
		}
	case dead:
		return Result{Cause: "connect refused"}
	}
	return Result{OK: true}
}

// runs plays a test with a runner that runs in a bubble, and ends it.
func runs(t *testing.T, play func(t *testing.T, b *Board, r *Runner, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		b, w := NewBoard(), newWorld()
		r := NewRunner(b, w.probe, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		play(t, b, r, w)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if w.most > 1 {
			t.Errorf("%d probes of one endpoint in flight at once", w.most)
		}
	})
}

// until waits for the endpoint to have the verdict and tells how long that took.
func until(t *testing.T, b *Board, k Key, v Verdict) time.Duration {
	t.Helper()
	start := time.Now()
	for b.Latest().Endpoint(k).Verdict != v {
		select {
		case <-b.Changed():
		case <-time.After(time.Hour):
			t.Fatalf("%v has not become %v in an hour", k.Address, v)
		}
	}
	return time.Since(start)
}

func TestWithdrawsAtTheTenthFailureAndRestoresAtTheTwentiethSuccess(t *testing.T) {
	const interval = 10 * time.Second
	for _, hanging := range []bool{false, true} {
		name, late := "refusing", time.Duration(0)
		if hanging {
			name, late = "hanging", usualCheck.Timeout
		}
		t.Run(name, func(t *testing.T) {
			runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
				one := target(1)
				k, a := one.Key(), one.Address
				r.Apply([]Target{one})
				start := time.Now()
				time.Sleep(offsetOf(k) + 20*interval + time.Second) // one second after a probe

				w.set(w.dead, a, !hanging)
				w.set(w.hanging, a, hanging)
				if got, want := until(t, b, k, Withdrawn), 10*interval-time.Second+late; got != want {
					t.Errorf("withdrawn after %v, want %v: the 10th failure", got, want)
				}
				if got, want := b.Latest().Endpoint(k).Since, time.Now(); !got.Equal(want) {
					t.Errorf("withdrawn since %v, want %v", got, want)
				}
				w.set(w.dead, a, false)
				w.set(w.hanging, a, false)
				if got, want := until(t, b, k, Up), 20*interval-late; got != want {
					t.Errorf("restored after %v, want %v: the 20th success", got, want)
				}
				for i, at := range w.started(a, start)[1:] {
					if want := offsetOf(k) + time.Duration(i+1)*interval; at != want {
						t.Errorf("probe %d at %v, want %v", i+1, at, want)
					}
				}
			})
		})
	}
}

func TestNewDeadEndpointIsWithdrawnAtItsThirdFailure(t *testing.T) {
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		one := target(1)
		w.set(w.dead, one.Address, true)
		r.Apply([]Target{one})
		if got, want := until(t, b, one.Key(), Withdrawn), offsetOf(one.Key())+2*one.Check.Interval; got != want {
			t.Errorf("withdrawn after %v, want %v", got, want)
		}
	})
}

func TestEverythingIsProbedWithinASecond(t *testing.T) {
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		var targets []Target
		for n := range 200 {
			targets = append(targets, target(byte(n)))
		}
		start := time.Now()
		r.Apply(targets)
		<-b.Settled()
		if got := time.Since(start); got > firstSpread || got < firstSpread/2 {
			t.Errorf("settled after %v, want nearly %v", got, firstSpread)
		}
	})
}

func TestHangingEndpointsDelayNoOther(t *testing.T) {
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		targets := []Target{target(0)}
		for n := 1; n <= 100; n++ {
			targets = append(targets, target(byte(n)))
			w.set(w.hanging, targets[n].Address, true)
		}
		start := time.Now()
		r.Apply(targets)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		k := targets[0].Key()
		all := w.started(targets[0].Address, start)
		if len(all) < 59 {
			t.Errorf("%d probes of the healthy endpoint in 10 minutes", len(all))
		}
		for i, at := range all[1:] {
			if want := offsetOf(k) + time.Duration(i+1)*k.Check().Interval; at != want {
				t.Errorf("probe %d at %v, want %v", i+1, at, want)
			}
		}
		for _, one := range targets[1:] {
			if b.Latest().Endpoint(one.Key()).Serving() {
				t.Errorf("%v hangs and still serves", one.Address)
			}
		}
	})
}

func TestProbeThatTakesItsWholeIntervalKeepsItsRate(t *testing.T) {
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		one := target(1)
		one.Check.Timeout = one.Check.Interval
		w.set(w.hanging, one.Address, true)
		start := time.Now()
		r.Apply([]Target{one})
		time.Sleep(101 * time.Second)
		all := w.started(one.Address, start)
		for i := 2; i < len(all); i++ {
			if gap := all[i] - all[i-1]; gap != one.Check.Interval {
				t.Errorf("probe %d follows after %v, want %v", i, gap, one.Check.Interval)
			}
		}
	})
}

func TestUnchangedTargetsKeepTheirSchedule(t *testing.T) {
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		one, k := target(1), target(1).Key()
		start := time.Now()
		r.Apply([]Target{one})
		for n := range 30 {
			time.Sleep(3 * time.Second)
			r.Apply([]Target{target(byte(n + 2)), one})
		}
		for i, at := range w.started(one.Address, start)[1:] {
			if want := offsetOf(k) + time.Duration(i+1)*k.Check().Interval; at != want {
				t.Errorf("probe %d at %v, want %v", i+1, at, want)
			}
		}
	})
}

func TestRemovedTargetStopsAtOnce(t *testing.T) {
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		one, others := target(1), []Target{}
		for n := range byte(20) {
			others = append(others, target(n+2))
		}
		w.set(w.hanging, one.Address, true)
		r.Apply(append(others, one))
		time.Sleep(2 * time.Second) // the first probe is in flight
		r.Apply(others)
		if got := b.Latest().Endpoint(one.Key()); got != (Endpoint{}) {
			t.Errorf("the removed endpoint is %+v right after Apply", got)
		}
		synctest.Wait()
		if got := w.counts(one.Address); got.cut != 1 {
			t.Errorf("%d probes were cut short, want the one in flight", got.cut)
		}
		r.Apply(append(others, one)) // what the cut probe said must not be seen
		synctest.Wait()
		if got := b.Latest().Endpoint(one.Key()); got.Results != 0 || got.Verdict != Unknown {
			t.Errorf("the endpoint that came back is %+v, want a new one", got)
		}
		r.Apply(others)
		time.Sleep(time.Minute)
		if got := w.counts(one.Address); got.started > 2 {
			t.Errorf("%d probes of a removed endpoint", got.started)
		}
	})
}

func TestProbesThatTheEndCutShortAreNotRecorded(t *testing.T) {
	var board *Board
	k := target(1).Key()
	var before Endpoint
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		board = b
		r.Apply([]Target{target(1)})
		time.Sleep(15 * time.Second)
		w.set(w.hanging, k.Address, true)
		time.Sleep(offsetOf(k) + 6*time.Second) // in the middle of a probe
		synctest.Wait()
		if got := w.counts(k.Address); got.flying != 1 {
			t.Fatalf("%d probes in flight, want 1", got.flying)
		}
		before = b.Latest().Endpoint(k)
	})
	if got := board.Latest().Endpoint(k); got != before {
		t.Errorf("after the end %+v, before it %+v", got, before)
	}
}

func TestTargetsAppliedBeforeRunAreProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := NewBoard(), newWorld()
		r := NewRunner(b, w.probe, slog.New(slog.DiscardHandler))
		r.Apply([]Target{target(1)})
		time.Sleep(time.Hour)
		if closed(b.Settled()) {
			t.Error("probed before Run")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
		if !closed(b.Settled()) {
			t.Error("not settled after a minute")
		}
	})
}
