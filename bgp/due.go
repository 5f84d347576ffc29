package bgp

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

// Tick does what is due: initial announcements that have fallen silent count, and stale routes
// whose time has run out leave. It gives the time of the next thing to do; zero for none.
func (r *RIB) Tick(now time.Time) (next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, s := range r.sources {
		if due := s.quietAt(); !due.IsZero() && !now.Before(due) {
			r.publish(r.settled(i))
		}
		r.expire(i, now)
		dues := []time.Time{s.quietAt()}
		for _, l := range s.losses {
			dues = append(dues, r.leaves(s, l))
		}
		for _, due := range dues {
			if !due.IsZero() && (next.IsZero() || due.Before(next)) {
				next = due
			}
		}
	}
	return next
}

// leaves is when the routes leave that a session has left and none confirmed since.
func (r *RIB) leaves(s *source, l loss) time.Time { return l.at.Add(r.partners[s.partner].Stale) }

// expire drops what lost sessions of a source have left and whose time has run out.
func (r *RIB) expire(i int, now time.Time) {
	s := r.sources[i]
	var over []uint16
	s.losses = slices.DeleteFunc(s.losses, func(l loss) bool {
		due := !now.Before(r.leaves(s, l))
		if due {
			over = append(over, l.session)
		}
		return due
	})
	if len(over) > 0 {
		t := r.Latest().swept(r.states(), func(_ netip.Prefix, c *claim) bool { return int(c.peer) != i || !slices.Contains(over, c.session) })
		r.publish(r.dated(t, now))
	}
}

// Run does what is due, when it is due, until the context ends.
func (r *RIB) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-r.wake:
		}
		if next := r.Tick(time.Now()); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
	}
}
