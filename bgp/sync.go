package bgp

import (
	"net/netip"
	"time"
)

// When a peer's first routes count although it did not tell their end (RFC 4724).
const (
	// quiet is how long they must not have grown, and quietPerThousand how much longer for each thousand of them: the
	// more there are, the more it costs to take them in parts, and a machine that is so busy may pause itself.
	quiet            = time.Second
	quietPerThousand = 5 * time.Millisecond
	// quietBeforeEnd is the same for a peer that announced to tell their end: it may be slow, but it will.
	quietBeforeEnd = 10 * time.Second
	// trickle is by how many they have to be more to have grown; of many, by a thousandth, and by a hundredth where the
	// silence is ten times as long. A peer with a full table has some change every second, and would never be
	// quiet otherwise; and so few cost little one by one.
	trickle = 1000
	// longestSync is how long they are held back at most, while they go on growing. A million took 25 to 90
	// seconds to come through the speaker, by how busy the machine was: taken in parts, each part would copy
	// most of the table. RFC 4724 leaves such a bound to whoever waits (section 4.1).
	longestSync = 2 * time.Minute
)

// Opened is what the OPENs of a session settled, as far as it matters to its routes.
type Opened struct {
	IPv4, IPv6 bool // families that the session carries
	Ends       bool // the peer announced to tell the end of its first routes (RFC 4724)
}

// hold keeps first routes back, and gives those of families of which all has been told.
func (r *RIB) hold(i int, edits []edit, now time.Time) (finished []edit) {
	s := r.sources[i]
	if s.began.IsZero() {
		s.began, s.heard = now, now
	}
	finished, edits = s.finished(edits)
	s.pending = append(s.pending, edits...)
	share := 1000
	if s.ends {
		share = 100
	}
	if n := len(s.pending); n-s.counted >= max(trickle, n/share) {
		s.heard, s.counted = now, n
	}
	signal(r.wake)
	return finished
}

// finished parts edits of families whose end-of-RIB came from the rest, in their order.
func (s *source) finished(edits []edit) (finished, rest []edit) {
	if s.ended == [2]bool{} {
		return nil, edits
	}
	for _, e := range edits {
		if s.ended[family(e.prefix.Addr())] {
			finished = append(finished, e)
		} else {
			rest = append(rest, e)
		}
	}
	return finished, rest
}

// announced counts the routes that remain of edits.
func announced(edits []edit) int {
	type route struct {
		prefix netip.Prefix
		id     uint32
	}
	routes := map[route]bool{}
	for _, e := range edits {
		if e.withdraw {
			delete(routes, route{e.prefix, e.claim.pathID})
		} else {
			routes[route{e.prefix, e.claim.pathID}] = true
		}
	}
	return len(routes)
}

// reconsider judges what is held back again.
func (r *RIB) reconsider() {
	for _, s := range r.sources {
		for j := range s.pending {
			if e := &s.pending[j]; !e.withdraw {
				preference, refused := r.partners[s.partner].judge(e.prefix, e.claim.path.Value(), r.vrps)
				e.claim.preference, e.claim.refused = preference, refused.number()
			}
		}
	}
}

// settled gives the table with what was held back of a source.
func (r *RIB) settled(i int) *Table {
	s := r.sources[i]
	t := r.Latest().edited(s.pending, r.states())
	s.syncing, s.pending = false, nil
	return t
}

// quietAt is when the source's first routes count although their end was not told; zero: never.
func (s *source) quietAt() time.Time {
	if !s.syncing || s.began.IsZero() {
		return time.Time{}
	}
	silent, most := s.heard.Add(quiet+time.Duration(len(s.pending)/1000)*quietPerThousand), s.began.Add(longestSync)
	if s.ends {
		silent = s.heard.Add(quietBeforeEnd)
	}
	if silent.After(most) {
		return most
	}
	return silent
}
