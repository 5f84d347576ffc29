package health

import (
	"context"
	"sync"
	"time"
)

const (
	// flightsMax is how many probes are in flight at most, each with a goroutine and a socket. Those that are due beyond
	// that wait. It is above what half of 20,000 endpoints that hang until their timeout need at its usual length.
	flightsMax = 10_000

	// idleMax is how many goroutines wait for another probe at most: more than usually leave together.
	idleMax = 256
)

// crew is the goroutines that make probes, called hands. A hand makes one probe after another: a new goroutine
// for each would first have to grow its stack, and a context of its own. It is guarded by the mutex of its runner.
type crew struct {
	hands   sync.WaitGroup
	flights int
	idle    int         // hands that wait, or have not taken yet what they were given
	next    chan *watch // for those that wait; it has room for all of them
}

// give has a hand make the probe of a watch: one that waits, or a new one. The caller holds mu.
func (r *Runner) give(ctx context.Context, w *watch) {
	c := &r.crew
	c.flights++
	if c.idle > 0 {
		c.idle--
		c.next <- w
		return
	}
	c.hands.Go(func() { r.work(ctx, w) })
}

// work makes the probe of a watch, and then those that it is given.
func (r *Runner) work(ctx context.Context, w *watch) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for {
		r.begin(w, stop)
		if found, at := r.fly(ctx, w); !r.land(ctx, w, at, found) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case w = <-r.crew.next:
		}
	}
}

// begin notes what ends the probe, which may be too late already.
func (r *Runner) begin(w *watch, stop context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.stop = stop
	if w.gone {
		stop()
	}
}

// fly makes one probe, and records what it found, and when.
func (r *Runner) fly(ctx context.Context, w *watch) (found Result, at time.Time) {
	start := time.Now()
	found = r.probe(ctx, w.key.Address, w.key.Check())
	at = time.Now()
	// Of a probe that was cut short, that may be all that the result tells of.
	if ctx.Err() == nil && (found.OK || found.Ours || !r.pulse.crossed(start, at)) {
		r.board.Record(w.key, found, at)
	}
	return found, at
}

// note follows what keeps probes from being made at all, and tells of it once. The caller holds mu: what a probe found must
// not be noted after its watch has left.
func (r *Runner) note(k Key, found Result) {
	begun, ended := r.ours.note(k, found)
	r.ours.tell(r.log, k, begun, ended)
}

// land has a watch wait for its next probe, and tells whether the hand is to wait for another one.
func (r *Runner) land(ctx context.Context, w *watch, at time.Time, found Result) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil {
		r.time(w.key.Check(), found)
		r.note(w.key, found)
	}
	w.stop = nil
	full := r.crew.flights == flightsMax
	r.crew.flights--
	if !w.gone {
		w.schedule = w.schedule.Done(at)
		r.enqueue(w)
	}
	if full || len(r.queue) > 0 && r.queue[0].watch == w {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}
	if ctx.Err() != nil || r.crew.idle == idleMax {
		return false
	}
	r.crew.idle++
	return true
}
