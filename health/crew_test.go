package health

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// Hands that have made a probe wait for another, unless so many wait already. One whose probe was cut short does not.
func TestHandsWaitForAnotherProbe(t *testing.T) {
	runs(t, func(t *testing.T, _ *Board, r *Runner, w *world) {
		hands := func() (waiting, busy int) {
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.crew.idle, r.crew.flights
		}
		var targets []Target
		for n := range 2 * idleMax {
			one := Target{Address: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), Name: "web", Check: usualCheck}
			w.set(w.hanging, one.Address, true)
			targets = append(targets, one)
		}
		r.Apply(targets)
		time.Sleep(firstSpread)
		if waiting, busy := hands(); waiting != 0 || busy != len(targets) {
			t.Errorf("at first %d wait and %d are busy, want 0 and %d", waiting, busy, len(targets))
		}
		time.Sleep(usualCheck.Timeout)
		waiting, busy := hands()
		if waiting+busy != idleMax || waiting == 0 {
			t.Errorf("then %d wait and %d are busy, want %d in all", waiting, busy, idleMax)
		}
		time.Sleep(usualCheck.Interval)
		waiting, busy = hands()
		if waiting+busy != idleMax || busy == 0 {
			t.Errorf("later %d wait and %d are busy, want %d in all", waiting, busy, idleMax)
		}
		r.Apply(nil)
		if still, busy := hands(); still != waiting || busy != 0 {
			t.Errorf("without targets %d wait and %d are busy, want %d and 0", still, busy, waiting)
		}
	})
}
