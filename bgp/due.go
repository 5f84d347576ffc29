package bgp

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

// Expired is stale routes that left because their time ran out: answers no longer go by them.
type Expired struct {
	Partner string
	Peer    netip.Addr
	Routes  int           // that were believed
	Stale   time.Duration // within which no session confirmed them
}

// Tick does what is due: initial announcements that have fallen silent count, and stale routes
// whose time has run out leave. It gives the time of the next thing to do; zero for none.
func (r *RIB) Tick(now time.Time) (next time.Time) {
	next, _ = r.tick(now)
	return next
}

// tick is Tick, and tells what left.
func (r *RIB) tick(now time.Time) (next time.Time, expired []Expired) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, s := range r.sources {
		if due := s.quietAt(); !due.IsZero() && !now.Before(due) {
			r.publish(r.settled(i))
		}
		if n := r.expire(i, now); n > 0 {
			expired = append(expired, Expired{s.partner, s.address, n, r.partners[s.partner].Stale})
		}
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
	return next, expired
}

// leaves is when the routes leave that a session has left and none confirmed since.
func (r *RIB) leaves(s *source, l loss) time.Time { return l.at.Add(r.partners[s.partner].Stale) }

// expire drops what lost sessions of a source have left and whose time has run out, and gives how many believed routes
// these were.
func (r *RIB) expire(i int, now time.Time) int {
	s := r.sources[i]
	var over []uint16
	s.losses = slices.DeleteFunc(s.losses, func(l loss) bool {
		due := !now.Before(r.leaves(s, l))
		if due {
			over = append(over, l.session)
		}
		return due
	})
	if len(over) == 0 {
		return 0
	}
	before := r.Latest().tallies[i]
	t := r.Latest().swept(r.states(), func(_ netip.Prefix, c *claim) bool { return int(c.peer) != i || !slices.Contains(over, c.session) })
	r.publish(r.dated(t, now))
	return before.Believed() - t.tallies[i].Believed()
}

// Run does what is due, when it is due, until the context ends. It calls the function for stale routes that leave.
func (r *RIB) Run(ctx context.Context, expired func(Expired)) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-r.wake:
		}
		next, left := r.tick(time.Now())
		for _, e := range left {
			expired(e)
		}
		if !next.IsZero() {
			timer.Reset(time.Until(next))
		}
	}
}
