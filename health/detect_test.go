package health

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// An endpoint that begins to refuse at any moment is withdrawn after k-1 to k intervals, one that begins to hang a
// timeout later; k is the number of failures that it takes.
func TestDetectionTakesWhatTheFormulaSays(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		check := usualCheck
		check.Interval = time.Duration(1+luck.IntN(60)) * time.Second
		check.Timeout = check.Interval / time.Duration(1+luck.IntN(4))
		check.Fall = 1 + luck.IntN(20)
		moment := time.Duration(luck.Float64() * float64(check.Interval))
		for _, hanging := range []bool{false, true} {
			runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
				one := Target{Address: target(1).Address, Name: "web", Check: check}
				r.Apply([]Target{one})
				time.Sleep(30*check.Interval + moment)
				least, most := time.Duration(check.Fall-1)*check.Interval, time.Duration(check.Fall)*check.Interval
				if hanging {
					w.set(w.hanging, one.Address, true)
					least, most = least+check.Timeout, most+check.Timeout
				} else {
					w.set(w.dead, one.Address, true)
				}
				if took := until(t, b, one.Key(), Withdrawn); took < least || took > most {
					t.Errorf("interval %v, timeout %v, fall %d, hanging %v: withdrawn after %v, want %v to %v",
						check.Interval, check.Timeout, check.Fall, hanging, took, least, most)
				}
			})
		}
	}
}

// Half of 200 endpoints hang: the others are probed on time, and all that hang are withdrawn within ten intervals and
// a timeout.
func TestHalfOfTheEndpointsHang(t *testing.T) {
	runs(t, func(t *testing.T, b *Board, r *Runner, w *world) {
		var targets []Target
		for n := range 200 {
			targets = append(targets, target(byte(n)))
		}
		start := time.Now()
		r.Apply(targets)
		time.Sleep(5 * time.Minute)
		for _, one := range targets[100:] {
			w.set(w.hanging, one.Address, true)
		}
		time.Sleep(10*usualCheck.Interval + usualCheck.Timeout)
		synctest.Wait()
		for i, one := range targets {
			if b.Latest().Endpoint(one.Key()).Serving() != (i < 100) {
				t.Errorf("%v serves: %v", one.Address, i >= 100)
			}
		}
		for _, one := range targets[:100] {
			for i, at := range w.started(one.Address, start)[1:] {
				if want := offsetOf(one.Key()) + time.Duration(i+1)*usualCheck.Interval; at != want {
					t.Fatalf("%v: probe %d at %v, want %v", one.Address, i+1, at, want)
				}
			}
		}
	})
}

// More probes than may be in flight at once wait for the others, and none is lost.
func TestFlightsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flying, most := 0, 0
		lock := make(chan struct{}, 1)
		slow := func(context.Context, netip.Addr, Check) Result {
			lock <- struct{}{}
			flying++
			most = max(most, flying)
			<-lock
			time.Sleep(2 * time.Second)
			lock <- struct{}{}
			flying--
			<-lock
			return Result{OK: true}
		}
		b := NewBoard()
		r := NewRunner(b, slow, slog.New(slog.DiscardHandler))
		var targets []Target
		for n := range flightsMax + 500 {
			one := target(0)
			one.Address = netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)})
			targets = append(targets, one)
		}
		r.Apply(targets)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		<-b.Settled()
		cancel()
		<-ended
		if most != flightsMax {
			t.Errorf("%d probes were in flight at once, want %d", most, flightsMax)
		}
	})
}
