package bgp

import "time"

// limit is how many routes a source may announce.
func (r *RIB) limit(i int) int { return r.partners[r.sources[i].partner].Accept.MaxPrefixes }

// Within tells whether a peer has announced no more than its partner may by a new configuration. When it has announced
// more, what was there before stays, stale, and the caller ends the session.
func (r *RIB) Within(p Peer, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, s := r.of(p)
	return s == nil || !s.up || !r.closed(r.Latest(), i, now)
}

// closed tells whether a source has announced more than it may, which loses its session.
func (r *RIB) closed(t *Table, i int, now time.Time) bool {
	if !r.over(t, i) {
		return false
	}
	r.lose(r.sources[i], now)
	r.restate()
	return true
}

// over tells whether a source has announced more than it may, by a table and what is held back.
func (r *RIB) over(t *Table, i int) bool {
	s, taken := r.sources[i], 0
	if !s.syncing || s.ended != [2]bool{} {
		taken = t.tallies[i].Received()
	}
	if taken+len(s.pending) <= r.limit(i) {
		return false
	}
	if taken > 0 {
		taken = t.said(i, s.session)
	}
	return taken+announced(s.pending) > r.limit(i)
}

// said counts the routes of a source that this session announced: stale ones are no longer announced.
func (t *Table) said(source int, session uint16) int {
	n := 0
	for _, pg := range t.pages {
		for _, c := range pg.claims {
			if int(c.peer) == source && c.session == session {
				n++
			}
		}
	}
	return n
}
