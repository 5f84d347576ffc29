package bgp

// limit is how many routes a source may announce.
func (r *RIB) limit(i int) int { return r.partners[r.sources[i].partner].Accept.MaxPrefixes }

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
