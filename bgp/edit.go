package bgp

import (
	"cmp"
	"iter"
	"net/netip"
	"slices"
)

// edit is one change of a table: a claim that comes in the place of what the same peer said of the
// same prefix and path, or one that goes.
type edit struct {
	prefix   netip.Prefix
	claim    claim // for a withdrawal only its peer and pathID count
	withdraw bool
}

// edited gives the table with edits made, in their order, and with the peers as they are now. The
// edits are sorted by it. It has no number yet.
func (t *Table) edited(edits []edit, peers []peerState) *Table {
	next := &Table{len: t.len, peers: slices.Clone(peers), tallies: make([]Tally, len(peers)), lengths: t.lengths}
	copy(next.tallies, t.tallies)
	next.pages = make([]*page, 0, len(t.pages)+1)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.prefix.Compare(b.prefix) })
	done := 0 // pages of t that next has, in whatever form
	for len(edits) > 0 {
		i := t.pageOf(edits[0].prefix)
		next.pages = append(next.pages, t.pages[done:min(i, len(t.pages))]...)
		pg, mine := &page{}, edits
		if i < len(t.pages) {
			pg = t.pages[i]
		}
		if i+1 < len(t.pages) {
			n, _ := slices.BinarySearchFunc(edits, t.pages[i+1].prefixes[0], func(e edit, p netip.Prefix) int { return e.prefix.Compare(p) })
			mine = edits[:n]
		}
		if len(pg.prefixes) > 0 && pg.confirmed(mine) {
			next.pages = append(next.pages, pg)
		} else {
			next.merge(pg, mine)
		}
		edits, done = edits[len(mine):], min(i+1, len(t.pages))
	}
	next.pages = append(next.pages, t.pages[done:]...)
	return next
}

// confirmed tells whether a page stays as it is when edits are made: a peer that announces all it has once more,
// because it was asked to or by habit, changes nothing, and should cost no copy of the table.
func (pg *page) confirmed(edits []edit) bool {
	for _, e := range edits {
		i, found := slices.BinarySearchFunc(pg.prefixes, e.prefix, netip.Prefix.Compare)
		var claims []claim
		if found {
			claims = pg.of(i)
		}
		j := slices.IndexFunc(claims, e.claim.replaces)
		if e.withdraw && j < 0 {
			continue
		}
		if e.withdraw || j < 0 || !claims[j].says(e.claim) || claims[j].session != e.claim.session {
			return false
		}
	}
	return true
}

// replaces tells whether a claim comes in the place of another one on the same prefix.
func (c claim) replaces(o claim) bool { return c.peer == o.peer && c.pathID == o.pathID }

// take puts a page, as it is, behind the others.
func (t *Table) take(pg *page) {
	t.pages = append(t.pages, pg)
	t.len += len(pg.prefixes)
}

// merge puts a page with its edits made behind the others, cut into pages that are not too long.
func (t *Table) merge(pg *page, edits []edit) {
	most := len(pg.prefixes) + len(edits)
	made := page{make([]netip.Prefix, 0, most), make([]uint32, 0, most), make([]claim, 0, len(pg.claims)+len(edits))}
	t.len -= len(pg.prefixes)
	var claims []claim // of one prefix after the other
	i := 0
	for i < len(pg.prefixes) || len(edits) > 0 {
		if len(edits) == 0 || (i < len(pg.prefixes) && pg.prefixes[i].Compare(edits[0].prefix) < 0) {
			made.add(pg.prefixes[i], pg.of(i))
			i++
			continue
		}
		p := edits[0].prefix
		claims = claims[:0]
		if i < len(pg.prefixes) && pg.prefixes[i] == p {
			claims = append(claims, pg.of(i)...)
			t.count(claims, -1)
			i++
		}
		for len(edits) > 0 && edits[0].prefix == p {
			claims = edits[0].applied(claims)
			edits = edits[1:]
		}
		t.count(claims, 1)
		if len(claims) > 0 {
			made.add(p, claims)
			t.lengths[family(p.Addr())].add(p.Bits())
		}
	}
	t.cut(&made)
}

func (t *Table) count(claims []claim, by int) {
	for _, c := range claims {
		t.tallies[c.peer][c.refused] += by
	}
}

// swept gives the table with every claim as judge leaves it: changed, or gone when it says false.
// Pages in which nothing changes are shared. It has no number yet.
func (t *Table) swept(peers []peerState, judge func(netip.Prefix, *claim) bool) *Table {
	next := &Table{peers: slices.Clone(peers), tallies: make([]Tally, len(peers)), lengths: t.lengths}
	for _, pg := range t.pages {
		var made page
		changed := false
		for i, p := range pg.prefixes {
			var kept []claim
			for _, c := range pg.of(i) {
				was := c
				keep := judge(p, &c)
				changed = changed || !keep || c != was
				if keep {
					kept = append(kept, c)
				}
			}
			next.count(kept, 1)
			if len(kept) > 0 {
				made.add(p, kept)
			}
		}
		switch {
		case !changed:
			next.take(pg)
		case len(made.prefixes) > 0:
			next.take(made.trimmed())
		}
	}
	return next
}

// applied gives the claims on one prefix with the edit made.
func (e edit) applied(claims []claim) []claim {
	i := slices.IndexFunc(claims, e.claim.replaces)
	switch {
	case i >= 0 && e.withdraw:
		return slices.Delete(claims, i, i+1)
	case i >= 0:
		if claims[i].says(e.claim) {
			e.claim.since = claims[i].since // it is confirmed, not new
		}
		claims[i] = e.claim
	case !e.withdraw:
		claims = append(claims, e.claim)
	}
	return claims
}

// says tells whether two claims mean the same, whenever they were made.
func (c claim) says(o claim) bool {
	return c.path == o.path && c.pathID == o.pathID && c.preference == o.preference && c.peer == o.peer && c.refused == o.refused
}

// cut puts the content of one long page behind the others, in pages of the right size.
func (t *Table) cut(long *page) {
	for first, n := 0, len(long.prefixes); first < n; {
		size := pageSize
		if n-first <= 2*pageSize {
			size = n - first
		}
		var part page
		for i := first; i < first+size; i++ {
			part.add(long.prefixes[i], long.of(i))
		}
		t.take(part.trimmed())
		first += size
	}
}

// Changed gives every prefix whose routes differ between two tables, or their order: that of several
// depends on which are stale. Its cost is that of the pages that the tables do not share, or, when a
// session came or went, of all.
func (t *Table) Changed(old *Table) iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		turned := !slices.EqualFunc(t.peers, old.peers, func(p, q peerState) bool { return p.up == q.up && p.session == q.session })
		a, b := old.start(), t.start()
		for a.valid(old) || b.valid(t) {
			if !turned && a.entry == 0 && b.entry == 0 && a.valid(old) && b.valid(t) && old.pages[a.page] == t.pages[b.page] {
				a, b = cursor{a.page + 1, 0}, cursor{b.page + 1, 0}
				continue
			}
			order, p := compareAt(a, old, b, t)
			same := false
			if order == 0 {
				_, x := a.at(old)
				_, y := b.at(t)
				same = slices.EqualFunc(x, y, claim.says) && (len(x) < 2 || t.sameStale(y, old, x))
			}
			if order <= 0 {
				a = a.next(old)
			}
			if order >= 0 {
				b = b.next(t)
			}
			if !same && !yield(p) {
				return
			}
		}
	}
}

// sameStale tells whether of equal claims in two tables the same ones are stale.
func (t *Table) sameStale(claims []claim, old *Table, before []claim) bool {
	for i, c := range claims {
		if t.peers[c.peer].stale(c) != old.peers[before[i].peer].stale(before[i]) {
			return false
		}
	}
	return true
}

// is tells whether a table is another one in nothing but its number: it has the same pages, and sessions.
func (t *Table) is(old *Table) bool {
	return slices.Equal(t.pages, old.pages) && slices.Equal(t.peers, old.peers)
}

func (t *Table) differs(old *Table) bool {
	for range t.Changed(old) {
		return true
	}
	return false
}

// compareAt tells which of two places has the smaller prefix, and that prefix.
func compareAt(a cursor, old *Table, b cursor, t *Table) (int, netip.Prefix) {
	switch {
	case !a.valid(old):
		p, _ := b.at(t)
		return 1, p
	case !b.valid(t):
		p, _ := a.at(old)
		return -1, p
	}
	p, _ := a.at(old)
	q, _ := b.at(t)
	if order := cmp.Compare(p.Compare(q), 0); order <= 0 {
		return order, p
	}
	return 1, q
}
