package steer

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// ramp is how a member that has come back takes its clients: network after network, each at a moment of
// its own, all within the ramp's length. The zero value is no ramp.
type ramp struct {
	start  int64  // Unix time in nanoseconds
	length int64  // nanoseconds
	seed   uint64 // of the place's name
}

// rampSeed sets the order in which networks join a place apart from the order by which a hash picks it.
const rampSeed = 0x72616d70

// left is how long a client network has to wait at a moment; not above 0: it waits no longer.
func (r ramp) left(network uint64, now int64) time.Duration {
	joins, _ := bits.Mul64(mix(r.seed^network), uint64(r.length)) // uniform in 0..length-1
	return time.Duration(r.start + int64(joins) + 1 - now)
}

// part is how much of 1 has joined at a moment.
func (r ramp) part(now time.Time) float64 {
	return max(0, min(1, float64(now.UnixNano()-r.start)/float64(r.length)))
}

// end is when the last network has joined.
func (r ramp) end() time.Time { return time.Unix(0, r.start+r.length) }

// ramping is a member that is to ramp whenever it comes back.
type ramping struct {
	name            string // as in [Tenures]
	service, member int
	length          time.Duration
}

// rampsOf gives the members of a service that are to ramp: all of them stand side by side.
func (p *Policy) rampsOf(service int) []ramping {
	from, _ := slices.BinarySearchFunc(p.ramps, service, func(r ramping, service int) int { return cmp.Compare(r.service, service) })
	to := from
	for to < len(p.ramps) && p.ramps[to].service == service {
		to++
	}
	return p.ramps[from:to]
}

func (s *Snapshot) member(r ramping) *member {
	return &s.in.Policy.services[r.service].members[r.member]
}

// runRamps puts the ramps that run at the moment of the snapshot where Decide finds them, and sees that another
// snapshot is due when one ends.
func (s *Snapshot) runRamps() {
	p := s.in.Policy
	for name, t := range s.in.Tenures.All() {
		i, ramps := p.rampOf[name]
		if !ramps || t.Out || !s.in.Now.Before(t.end(p.ramps[i].length)) {
			continue
		}
		r := p.ramps[i]
		if s.ramps == nil {
			s.ramps = make([][]ramp, len(p.services))
		}
		if s.ramps[r.service] == nil {
			s.ramps[r.service] = make([]ramp, len(p.services[r.service].members))
		}
		length := t.end(r.length).Sub(t.Since)
		running := ramp{t.Since.UnixNano(), int64(length), mix(s.member(r).seed + rampSeed)}
		s.ramps[r.service][r.member] = running
		if end := running.end(); s.expiry.IsZero() || end.Before(s.expiry) {
			s.expiry = end
		}
	}
}

// rampOf gives the ramp of a member that runs; the zero ramp when none does.
func (s *Snapshot) rampOf(service, member int) ramp {
	if s == nil || s.ramps == nil || s.ramps[service] == nil {
		return ramp{}
	}
	return s.ramps[service][member]
}

// waits is how long the client of a walk still has to wait for a member; 0: not at all.
func (w *walk) waits(member int) time.Duration {
	if w.ramps == nil || w.ramps[member].length == 0 {
		return 0
	}
	return max(0, w.ramps[member].left(w.network, w.now))
}
