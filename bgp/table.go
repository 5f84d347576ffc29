package bgp

import (
	"iter"
	"net/netip"
	"slices"
	"time"
	"unique"
)

// Table is every route of every partner. It is immutable and safe for concurrent use.
//
// The routes stand in pages, sorted by prefix. A table that differs in a few prefixes shares all
// other pages with the one before it: so a change costs what it touches, and [Table.Changed] finds
// it again by looking only at the pages that are not shared.
type Table struct {
	version uint64
	pages   []*page
	len     int // prefixes
	peers   []peerState
	tallies []Tally
	losses  [][]loss     // by source: sessions that left routes which may be there still
	lengths [2]lengthSet // prefix lengths that occur, or did: IPv4, IPv6
}

// peerState is a session as its routes need to know it. A static source has the zero address.
type peerState struct {
	partner string
	address netip.Addr
	session uint16    // counts the times it came up
	up      bool      // and its routes of this session are current
	lost    time.Time // when the session before this one, or the last, was lost
	shrank  time.Time // when a route of it left last
}

// claim is a route as it is kept: without what its prefix and its peer say already.
type claim struct {
	path       unique.Handle[Path]
	pathID     uint32
	since      uint32 // seconds of Unix time
	preference uint32
	peer       uint16 // index in Table.peers
	session    uint16 // of the peer, when it was last confirmed
	refused    uint8  // index in refusals
}

// refusals numbers the reasons. The first is none.
var refusals = [...]Refusal{
	Believed, RefusedDefault, RefusedBogus, RefusedLength, RefusedWithin, RefusedOrigin, RefusedASSet, RefusedLoop, RefusedIgnored, RefusedRPKI,
}

func (r Refusal) number() uint8 { return uint8(slices.Index(refusals[:], r)) }

// lengthSet is a set of prefix lengths.
type lengthSet [3]uint64

func (l *lengthSet) add(bits int)      { l[bits/64] |= 1 << (bits % 64) }
func (l *lengthSet) has(bits int) bool { return l[bits/64]>>(bits%64)&1 == 1 }

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// NewTable makes a table of routes. Prefixes must be masked.
func NewTable(version uint64, routes []Route) *Table {
	t := &Table{}
	var edits []edit
	for _, r := range routes {
		i := slices.IndexFunc(t.peers, func(p peerState) bool { return p.partner == r.Partner && p.address == r.Peer })
		if i < 0 {
			i = len(t.peers)
			t.peers = append(t.peers, peerState{partner: r.Partner, address: r.Peer, up: true})
		}
		c := claim{path: unique.Make(r.Path), pathID: r.PathID, preference: r.Preference, peer: uint16(i)}
		c.refused = uint8(max(0, slices.Index(refusals[:], r.Refused)))
		if !r.Since.IsZero() {
			c.since = uint32(r.Since.Unix())
		}
		edits = append(edits, edit{prefix: r.Prefix, claim: c})
	}
	t = t.edited(edits, t.peers)
	t.version = version
	return t
}

// Version numbers the table among those of one server; it grows with every change.
func (t *Table) Version() uint64 { return t.version }

// Len is the number of prefixes.
func (t *Table) Len() int { return t.len }

// All gives every prefix that is believed of anybody, in address order and each before the longer
// ones inside it, with those routes.
func (t *Table) All() iter.Seq2[netip.Prefix, []Route] { return t.believed(t.start(), nil) }

// Within gives what All gives, of the prefixes inside a block, and the block itself.
func (t *Table) Within(block netip.Prefix) iter.Seq2[netip.Prefix, []Route] {
	return t.believed(t.find(block.Masked()), func(p netip.Prefix) bool {
		return p.Bits() >= block.Bits() && block.Contains(p.Addr())
	})
}

// believed gives the routes that are, from a cursor on, while the prefixes are wanted.
func (t *Table) believed(c cursor, wanted func(netip.Prefix) bool) iter.Seq2[netip.Prefix, []Route] {
	return func(yield func(netip.Prefix, []Route) bool) {
		for ; c.valid(t); c = c.next(t) {
			p, claims := c.at(t)
			if wanted != nil && !wanted(p) {
				return
			}
			if routes := t.routes(p, claims, false); routes != nil && !yield(p, routes) {
				return
			}
		}
	}
}

// From gives every prefix from the given one on, with all its routes, those that are refused too.
func (t *Table) From(p netip.Prefix) iter.Seq2[netip.Prefix, []Route] {
	return func(yield func(netip.Prefix, []Route) bool) {
		for c := t.find(p); c.valid(t); c = c.next(t) {
			at, claims := c.at(t)
			if !yield(at, t.routes(at, claims, true)) {
				return
			}
		}
	}
}

// At gives all routes of one prefix, those that are refused too.
func (t *Table) At(p netip.Prefix) []Route {
	c := t.find(p)
	if !c.valid(t) {
		return nil
	}
	at, claims := c.at(t)
	if at != p {
		return nil
	}
	return t.routes(p, claims, true)
}

// Covering gives the prefixes that hold the address and are believed of anybody, longest first,
// with those routes.
func (t *Table) Covering(a netip.Addr) iter.Seq2[netip.Prefix, []Route] {
	return func(yield func(netip.Prefix, []Route) bool) {
		for bits := a.BitLen(); bits >= 0; bits-- {
			if !t.lengths[family(a)].has(bits) {
				continue
			}
			p := netip.PrefixFrom(a, bits).Masked()
			believed := slices.DeleteFunc(t.At(p), func(r Route) bool { return r.Refused != Believed })
			if len(believed) > 0 && !yield(p, believed) {
				return
			}
		}
	}
}

// claims gives every prefix with its routes as they are kept.
func (t *Table) claims() iter.Seq2[netip.Prefix, []claim] {
	return func(yield func(netip.Prefix, []claim) bool) {
		for c := t.start(); c.valid(t); c = c.next(t) {
			if !yield(c.at(t)) {
				return
			}
		}
	}
}

// routes writes claims out.
func (t *Table) routes(p netip.Prefix, claims []claim, refused bool) []Route {
	var routes []Route
	for _, c := range claims {
		if c.refused != 0 && !refused {
			continue
		}
		peer := &t.peers[c.peer]
		r := Route{
			Prefix: p, Partner: peer.partner, Peer: peer.address, Path: c.path.Value(), PathID: c.pathID,
			Preference: c.preference, Refused: refusals[c.refused],
		}
		if c.since != 0 {
			r.Since = time.Unix(int64(c.since), 0)
		}
		if peer.stale(c) {
			r.Stale = t.lost(c)
		}
		routes = append(routes, r)
	}
	return routes
}

// lost tells since when a stale claim is one: the session that confirmed it last may not be the last that its peer had.
func (t *Table) lost(c claim) time.Time {
	if int(c.peer) < len(t.losses) {
		for _, l := range t.losses[c.peer] {
			if l.session == c.session {
				return l.at
			}
		}
	}
	return t.peers[c.peer].lost
}

// stale tells whether a claim waits for its session to confirm it.
func (p *peerState) stale(c claim) bool {
	return p.address.IsValid() && (!p.up || c.session != p.session)
}
