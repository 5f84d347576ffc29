package dns

import (
	"testing"
	"testing/synctest"
)

// However many requests come at a time, they share a few workers: each has counters of its own for good.
func TestRequestsAtATimeShareWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewResponder("ns1", "test")
		var taken []*Worker
		for range sharedWorkers() {
			taken = append(taken, r.takeWorker())
		}
		came := make(chan *Worker)
		for range 3 {
			go func() { came <- r.takeWorker() }()
		}
		synctest.Wait()
		select {
		case <-came:
			t.Error("there is one more than there may be")
		default:
		}
		for _, w := range taken[:3] {
			r.returnWorker(w)
			if got := <-came; got != w {
				t.Error("another worker came than the one that was given back")
			}
		}
		if n := len(r.Counts.tallies); n != sharedWorkers() {
			t.Errorf("%d workers count", n)
		}
	})
}
