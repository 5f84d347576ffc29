package health

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Runner probes every endpoint of a board on time and records what it finds. Endpoints are probed in
// parallel, each on a schedule of its own and with one probe in flight at most, so a slow one delays
// no other.
type Runner struct {
	board   *Board
	probe   Prober
	log     *slog.Logger
	applied chan struct{} // one slot: wanted has changed
	pulse   pulse

	mu     sync.Mutex
	wanted []Key
}

// NewRunner gives a runner that brings the board the results of the prober. Nothing is probed until
// [Runner.Run].
func NewRunner(b *Board, p Prober, log *slog.Logger) *Runner {
	return &Runner{board: b, probe: p, log: log, applied: make(chan struct{}, 1)}
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
// end cut short are not recorded, nor failures of probes during which this process stood still. A runner runs
// once.
func (r *Runner) Run(ctx context.Context) error {
	var watches sync.WaitGroup
	defer watches.Wait()
	watches.Go(func() { r.pulse.run(ctx, r.log) })
	stops := make(map[Key]context.CancelFunc)
	for {
		r.follow(ctx, &watches, stops)
		select {
		case <-ctx.Done():
			return nil
		case <-r.applied:
		}
	}
}

// follow starts and stops watches until they are the wanted ones.
func (r *Runner) follow(ctx context.Context, watches *sync.WaitGroup, stops map[Key]context.CancelFunc) {
	r.mu.Lock()
	wanted := r.wanted
	r.mu.Unlock()
	stay := make(map[Key]bool, len(wanted))
	for _, k := range wanted {
		stay[k] = true
	}
	for k, stop := range stops {
		if !stay[k] {
			stop()
			delete(stops, k)
		}
	}
	now := time.Now()
	for _, k := range wanted {
		if stops[k] != nil {
			continue
		}
		watch, stop := context.WithCancel(ctx)
		stops[k] = stop
		watches.Go(func() { r.watch(watch, k, now) })
	}
}

// watch probes one endpoint on its schedule until ctx ends.
func (r *Runner) watch(ctx context.Context, k Key, start time.Time) {
	s := NewSchedule(k, start)
	timer := time.NewTimer(time.Until(s.Due()))
	defer timer.Stop()
	missed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		begin := time.Now()
		if missed = !missed && s.Missed(begin); missed {
			s = s.Skip(begin)
			timer.Reset(s.Due().Sub(begin))
			continue
		}
		result := r.probe(ctx, k.Address, k.Check)
		if ctx.Err() != nil {
			return // the end of the watch may be all that the result tells of
		}
		now := time.Now()
		if result.OK || !r.pulse.crossed(begin, now) {
			r.board.Record(k, result, now)
		}
		s = s.Done(now)
		timer.Reset(s.Due().Sub(now))
	}
}
