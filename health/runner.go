package health

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"time"

	"gslb/health/spread"
)

// flightsMax is how many probes are in flight at most, each with a goroutine and a socket. Those that are due beyond
// that wait. It is above what half of 20,000 endpoints that hang until their timeout need at its usual length.
const flightsMax = 10_000

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
	flights int
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
	due      time.Time          // of the schedule
	skipped  bool               // the probe before the one that is due was too late to be made
	stop     context.CancelFunc // ends the probe in flight; nil: none is
	gone     bool               // it is not wanted any more
}

// queue is a heap of watches: the first is due first.
type queue []*watch

// Len, Less, Swap, Push and Pop are for container/heap.
func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push adds a watch at the end.
func (q *queue) Push(w any) { *q = append(*q, w.(*watch)) }

// Pop takes the watch at the end.
func (q *queue) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return w
}

// NewRunner gives a runner that brings the board the results of the prober. Nothing is probed until
// [Runner.Run].
func NewRunner(b *Board, p Prober, log *slog.Logger) *Runner {
	return &Runner{board: b, probe: p, log: log, applied: make(chan struct{}, 1), woken: make(chan struct{}, 1), watches: map[Key]*watch{}, took: map[Ending]*spread.Spread{}}
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
	var crew sync.WaitGroup
	defer crew.Wait()
	crew.Go(func() { r.pulse.run(ctx, r.log) })
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
		timer.Reset(r.launch(ctx, &crew))
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

// enqueue has a watch wait for its time. The caller holds mu.
func (r *Runner) enqueue(w *watch) {
	w.due = w.schedule.Due()
	heap.Push(&r.queue, w)
}

const (
	longestWait = time.Hour // of a runner that has nothing to do

	// So many endpoints are a crowd: those that are due within the time leave together, since waking up for each
	// alone costs nearly as much as to probe it.
	crowd    = 1000
	together = 20 * time.Millisecond
)

// launch has all probes leave that are due, and gives the time until the next one is.
func (r *Runner) launch(ctx context.Context, crew *sync.WaitGroup) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) > 0 && r.flights < flightsMax {
		w, now := r.queue[0], time.Now()
		if wait := w.due.Sub(now); wait > 0 && !w.gone {
			if len(r.watches) >= crowd {
				wait = max(wait, together)
			}
			return min(wait, longestWait)
		}
		heap.Pop(&r.queue)
		if w.gone {
			continue
		}
		if w.skipped = !w.skipped && w.schedule.Missed(now); w.skipped {
			w.schedule = w.schedule.Skip(now)
			r.enqueue(w)
			continue
		}
		flight, stop := context.WithCancel(ctx)
		w.stop = stop
		r.flights++
		r.lag.Add(now.Sub(w.due))
		crew.Go(func() { r.fly(flight, w) })
	}
	return longestWait
}

// fly makes one probe.
func (r *Runner) fly(ctx context.Context, w *watch) {
	begin := time.Now()
	result := r.probe(ctx, w.key.Address, w.key.Check())
	now := time.Now()
	// Of a probe that was cut short, that may be all that the result tells of.
	if ctx.Err() == nil {
		r.note(w.key, result)
		if result.OK || result.Ours || !r.pulse.crossed(begin, now) {
			r.board.Record(w.key, result, now)
		}
	}
	r.land(w, now, result)
}

// note follows what keeps probes from being made at all, and tells of it once.
func (r *Runner) note(k Key, result Result) {
	begun, ended := r.ours.note(k, result)
	r.ours.tell(r.log, k, begun, ended)
}

// land has a watch wait for its next probe.
func (r *Runner) land(w *watch, now time.Time, found Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.time(w.key.Check(), found)
	w.stop()
	w.stop = nil
	full := r.flights == flightsMax
	r.flights--
	if !w.gone {
		w.schedule = w.schedule.Done(now)
		r.enqueue(w)
	}
	if full || len(r.queue) > 0 && r.queue[0] == w {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}
}
