package sim

import (
	"time"

	"gslb/health"
)

// watch probes one key on its schedule: what is a goroutine in the server is a value here.
type watch struct {
	key      health.Key
	schedule health.Schedule
	flying   bool          // a probe has left and not ended
	ends     time.Time     // when it ends
	result   health.Result // what it finds
}

// due is when something happens next: a probe leaves, or ends.
func (wa *watch) due() time.Time {
	if wa.flying {
		return wa.ends
	}
	return wa.schedule.Due()
}

// watch makes the targets what is probed. Those that stay keep their schedule, and the probe that is in flight.
func (w *world) watch(targets []health.Target) {
	w.server.board.Apply(targets, w.now)
	before := map[health.Key]*watch{}
	for _, wa := range w.server.watches {
		before[wa.key] = wa
	}
	seen := map[health.Key]bool{}
	w.server.watches = nil
	for _, t := range targets {
		k := t.Key()
		if seen[k] {
			continue
		}
		seen[k] = true
		wa, ok := before[k]
		if !ok {
			wa = &watch{key: k, schedule: health.NewSchedule(k, w.now)}
		}
		w.server.watches = append(w.server.watches, wa)
	}
	w.settle()
}

// settle opens the sockets when the first results are in.
func (w *world) settle() {
	select {
	case <-w.server.board.Settled():
		w.server.open = true
	default:
	}
}

// pass lets time pass until a moment, or until it is enough.
func (w *world) pass(until time.Time, enough func() bool) {
	for !enough() {
		next, wa := w.next()
		if next.IsZero() || next.After(until) {
			w.now = until
			return
		}
		w.now = next
		if wa == nil { // a drain has run out, or routes are due
			w.server.rib.Tick(w.now)
			w.server.publisher.Refresh(w.now)
			if again := w.server.again; !again.IsZero() && !again.After(w.now) {
				_ = w.load() // what is refused again has been said
			}
			continue
		}
		w.step(wa)
	}
}

// next is the moment at which something happens: to a watch, or, when it is nil, to a drain or to
// routes. The zero time means never.
func (w *world) next() (at time.Time, first *watch) {
	if s := w.server.publisher.Latest(); s != nil {
		at = s.Expiry()
	}
	if due := w.server.rib.Tick(w.now); at.IsZero() || (!due.IsZero() && due.Before(at)) {
		at = due
	}
	if again := w.server.again; !again.IsZero() && (at.IsZero() || again.Before(at)) {
		at = again
	}
	for _, wa := range w.server.watches {
		if due := wa.due(); at.IsZero() || due.Before(at) {
			at, first = due, wa
		}
	}
	return at, first
}

// step lets a probe leave, and records the one that has ended.
func (w *world) step(wa *watch) {
	if !wa.flying {
		wa.flying, wa.result = true, w.endpoints.probe(wa.key.Address, wa.key.Check())
		wa.ends = w.now.Add(wa.result.Took)
		if wa.result.Took > 0 {
			return
		}
	}
	wa.flying = false
	wa.schedule = wa.schedule.Done(w.now)
	w.server.counts[wa.key]++
	before := w.server.board.Latest()
	w.server.board.Record(wa.key, wa.result, w.now)
	if w.server.board.Latest() != before {
		w.server.publisher.Refresh(w.now)
	}
	w.settle()
}
