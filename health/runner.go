package health

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gslb/health/spread"
)

// Runner probes every endpoint of a board on time and records what it finds. Endpoints are probed in
// parallel, each on a schedule of its own and with one probe in flight at most, so a slow one delays
// no other. An endpoint that waits for its time costs a place in a queue, and no goroutine.
type Runner struct {
	board   *Board
	probe   Prober
	log     *slog.Logger
	applied chan struct{} // one slot: wanted has changed
	woken   chan struct{} // one slot: the first of the queue is another, or may leave now
	pulse   pulse
	ours    hindrances
	lag     spread.Spread // from when a probe was due to when it left

	mu      sync.Mutex
	wanted  []Key
	watches map[Key]*watch
	queue   queue // of the watches that wait
	crew    crew
	took    map[Ending]*spread.Spread
}

// Ending is how probes of one kind end.
type Ending struct {
	Kind string // the word of the config
	OK   bool
}

// watch is one endpoint that is probed. It is guarded by the mutex of its runner.
type watch struct {
	key      Key
	schedule Schedule
	skipped  bool               // the probe before the one that is due was too late to be made
	stop     context.CancelFunc // ends the probe in flight; nil: none is
	gone     bool               // it is not wanted any more
}

// NewRunner gives a runner that brings the board the results of the prober. Nothing is probed until
// [Runner.Run].
func NewRunner(b *Board, p Prober, log *slog.Logger) *Runner {
	return &Runner{
		board: b, probe: p, log: log, applied: make(chan struct{}, 1), woken: make(chan struct{}, 1),
		watches: map[Key]*watch{}, crew: crew{next: make(chan *watch, idleMax)}, took: map[Ending]*spread.Spread{},
	}
}

// Apply makes the targets the content of the board and, while the runner runs, what is probed. The
// board shows them when Apply returns. Targets that stay keep their schedule; removed ones are left at
// once, with the probe that is in flight.
func (r *Runner) Apply(targets []Target) {
	r.mu.Lock()
	added, removed := r.board.Apply(targets, time.Now())
	r.wanted = r.board.keys()
	total := len(r.wanted)
	r.mu.Unlock()
	select {
	case r.applied <- struct{}{}:
	default:
	}
	if len(added)+len(removed) > 0 {
		r.log.Info("probes changed", "added", len(added), "removed", len(removed), "total", total)
	}
}

// Run probes until ctx ends. It returns nil when the last probe has ended. Results of probes that the
// end cut short are not recorded, nor failures of probes during which this process stood still, or which could not be
// made for a reason of this machine. A runner runs once.
func (r *Runner) Run(ctx context.Context) error {
	defer r.crew.hands.Wait()
	r.crew.hands.Go(func() { r.pulse.run(ctx, r.log) })
	r.follow()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.applied:
			r.follow()
		case <-r.woken:
		case <-timer.C:
		}
		timer.Reset(r.launch(ctx))
	}
}

// follow begins and ends watches until they are the wanted ones.
func (r *Runner) follow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	stay, prints := make(map[Key]bool, len(r.wanted)), fingerprints{}
	now := time.Now()
	for _, k := range r.wanted {
		stay[k] = true
		if r.watches[k] == nil {
			w := &watch{key: k, schedule: prints.schedule(k, now)}
			r.watches[k] = w
			r.enqueue(w)
		}
	}
	for k, w := range r.watches {
		if stay[k] {
			continue
		}
		delete(r.watches, k)
		w.gone = true // launch passes over it
		r.note(k, Result{})
		if w.stop != nil {
			w.stop()
		}
	}
}

const (
	longestWait = time.Hour // of a runner that has nothing to do

	// So many endpoints are a crowd: those that are due within the time leave together, since waking up for each
	// alone costs nearly as much as to probe it.
	crowd    = 1000
	together = 20 * time.Millisecond
)

// launch has all probes leave that are due, and gives the time until the next one is.
func (r *Runner) launch(ctx context.Context) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) > 0 && r.crew.flights < flightsMax {
		first, now := r.queue[0], time.Now()
		if wait := first.due.Sub(now); wait > 0 && !first.gone {
			if len(r.watches) >= crowd {
				wait = max(wait, together)
			}
			return min(wait, longestWait)
		}
		r.queue.pop()
		w := first.watch
		if w.gone {
			continue
		}
		if w.skipped = !w.skipped && w.schedule.Missed(now); w.skipped {
			w.schedule = w.schedule.Skip(now)
			r.enqueue(w)
			continue
		}
		r.lag.Add(now.Sub(first.due))
		r.give(ctx, w)
	}
	return longestWait
}
