package bgp

import (
	"net/netip"
	"slices"
)

// pageSize is the number of prefixes that a page is begun with; one of twice as many is split.
const pageSize = 128

// page is a run of prefixes with their claims. It is never written after it is made.
type page struct {
	prefixes []netip.Prefix // sorted
	ends     []uint32       // of each prefix's claims
	claims   []claim
}

func (pg *page) of(i int) []claim {
	first := uint32(0)
	if i > 0 {
		first = pg.ends[i-1]
	}
	return pg.claims[first:pg.ends[i]]
}

func (pg *page) add(p netip.Prefix, claims []claim) {
	pg.prefixes = append(pg.prefixes, p)
	pg.claims = append(pg.claims, claims...)
	pg.ends = append(pg.ends, uint32(len(pg.claims)))
}

// trimmed gives a page that holds no more memory than it needs.
func (pg *page) trimmed() *page {
	return &page{slices.Clip(pg.prefixes), slices.Clip(pg.ends), slices.Clip(pg.claims)}
}

// cursor is a place in a table: a prefix of a page.
type cursor struct{ page, entry int }

func (t *Table) start() cursor { return cursor{} }

func (c cursor) valid(t *Table) bool { return c.page < len(t.pages) }

// at gives what stands at a place.
func (c cursor) at(t *Table) (netip.Prefix, []claim) {
	pg := t.pages[c.page]
	return pg.prefixes[c.entry], pg.of(c.entry)
}

func (c cursor) next(t *Table) cursor {
	if c.entry+1 < len(t.pages[c.page].prefixes) {
		return cursor{c.page, c.entry + 1}
	}
	return cursor{c.page + 1, 0}
}

// find gives the place of a prefix, or of the first one behind where it would be.
func (t *Table) find(p netip.Prefix) cursor {
	i := t.pageOf(p)
	if i == len(t.pages) {
		return cursor{i, 0}
	}
	j, _ := slices.BinarySearchFunc(t.pages[i].prefixes, p, netip.Prefix.Compare)
	if j == len(t.pages[i].prefixes) {
		return cursor{i + 1, 0}
	}
	return cursor{i, j}
}

// pageOf gives the page that a prefix is on, or would be; 0 in an empty table.
func (t *Table) pageOf(p netip.Prefix) int {
	i, found := slices.BinarySearchFunc(t.pages, p, func(pg *page, p netip.Prefix) int { return pg.prefixes[0].Compare(p) })
	if found || i == 0 {
		return i
	}
	return i - 1
}
