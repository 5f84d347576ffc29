package health

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	beatInterval = 250 * time.Millisecond
	beatLate     = time.Second // a beat that is later than this has stood still
)

// pulse notices that this process stood still: it was stopped, or starved of the processor, or the machine
// slept. What probes found across such a gap tells of us, and not of endpoints: a deadline that passes
// meanwhile looks like a timeout.
type pulse struct {
	mu        sync.Mutex
	last      time.Time // the newest beat; zero while there is none
	woke      time.Time // the end of the newest gap; zero without one
	gaps      uint64
	discarded uint64
}

// run beats until ctx ends.
func (p *pulse) run(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(beatInterval)
	defer ticker.Stop()
	defer p.stop()
	p.beat(time.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if gap := p.beat(time.Now()); gap > 0 {
			log.Warn("checks stood still: what probes in flight have failed since is not counted", "for", gap.Round(time.Millisecond))
		}
	}
}

func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Time{}
}

// beat takes in that the process runs, and gives how long it did not; 0 when it did.
func (p *pulse) beat(now time.Time) (gap time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		gap = stood(p.last, now)
	}
	if p.last = now; gap > 0 {
		p.woke = now
		p.gaps++
	}
	return gap
}

// stood tells how long the process must have stood still from one moment to another; 0 when it need not have.
func stood(from, to time.Time) time.Duration {
	return still(to.Round(0).Sub(from.Round(0)), to.Sub(from))
}

// still is stood by the time that passed by the wall clock and by the monotonic one: while a machine sleeps only
// the first goes on. Where that was set meanwhile, nobody can tell the one from the other.
func still(wall, monotonic time.Duration) time.Duration {
	if asleep := wall - monotonic; asleep > beatLate || asleep < -beatLate {
		return max(asleep, -asleep)
	}
	if monotonic > beatInterval+beatLate {
		return monotonic
	}
	return 0
}

// crossed tells whether a probe was in flight while the process stood still. The end of a gap may come here
// before it comes to the next beat.
func (p *pulse) crossed(start, end time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		return false
	}
	crossed := start.Before(p.woke) || stood(p.last, end) > 0
	if crossed {
		p.discarded++
	}
	return crossed
}

// Gaps counts the times at which the checks stood still, and the failures that did not count because of it or since
// they were ours. Hindered is how many endpoints cannot be probed at present.
type Gaps struct {
	Gaps, Discarded uint64
	Hindered        int
}

// Gaps tells how often the checks stood still since the start, and what keeps them from being made.
func (r *Runner) Gaps() Gaps {
	r.pulse.mu.Lock()
	g := Gaps{Gaps: r.pulse.gaps, Discarded: r.pulse.discarded}
	r.pulse.mu.Unlock()
	r.ours.mu.Lock()
	defer r.ours.mu.Unlock()
	g.Discarded += r.ours.discarded
	g.Hindered = len(r.ours.causes)
	return g
}
