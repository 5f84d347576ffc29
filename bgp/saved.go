package bgp

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"
)

// sourcesKey is the key of the one saved value that is no page.
const sourcesKey = "sources"

// savedSource is a peer whose routes were saved, and when they were confirmed last.
type savedSource struct {
	Partner   string         `json:"partner"`
	Address   netip.Addr     `json:"address"`
	Confirmed time.Time      `json:"confirmed"`         // the routes of the last session
	Session   uint16         `json:"session,omitempty"` // its number
	Earlier   []savedSession `json:"earlier,omitempty"` // sessions whose routes nobody confirmed since
}

// savedSession is a session that was lost, and when its routes were confirmed last.
type savedSession struct {
	Session   uint16    `json:"session"`
	Confirmed time.Time `json:"confirmed"`
}

// SaveInterval is how often routes should be saved while nothing changes, so that the file shows routes that are
// confirmed all the time as confirmed lately. It is a small part of the time for which any partner's routes outlive
// their session.
func (r *RIB) SaveInterval() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	const often = 10
	shortest := often * time.Minute
	for _, p := range r.partners {
		if p.Stale > 0 {
			shortest = min(shortest, p.Stale)
		}
	}
	return shortest / often
}

// Saved is the part of a table that survives a restart: the routes of all peers, in pieces by key. Static routes are
// left out, since the configuration has them, and so are refused ones.
type Saved struct {
	Table *Table            // whose routes these are
	Set   map[string][]byte // pieces that are new, or others than before
	Gone  []string          // keys of pieces that are no more
}

// Save gives all that survives a restart.
func (r *RIB) Save(now time.Time) (map[string][]byte, error) {
	s, err := r.SaveSince(nil, now)
	return s.Set, err
}

// SaveSince gives how what survives a restart differs from what it was with an earlier table of this RIB; with
// nil it gives all. It costs what the pages do that the two tables do not share.
func (r *RIB) SaveSince(old *Table, now time.Time) (Saved, error) {
	t := r.Latest()
	sources := t.sources(now)
	r.noteEarlier(sources)
	index, err := json.Marshal(sources)
	if err != nil {
		return Saved{}, fmt.Errorf("save the sources of routes: %w", err)
	}
	s := Saved{Table: t, Set: map[string][]byte{sourcesKey: index}}
	var before []*page
	if old != nil {
		before = old.pages
	}
	for after := t.pages; len(before) > 0 || len(after) > 0; {
		if len(before) > 0 && len(after) > 0 && before[0] == after[0] {
			before, after = before[1:], after[1:]
			continue
		}
		switch order := comparePages(before, after); {
		case order < 0:
			s.Gone = append(s.Gone, before[0].key())
			before = before[1:]
		case order > 0:
			s.put(after[0])
			after = after[1:]
		default:
			s.put(after[0])
			before, after = before[1:], after[1:]
		}
	}
	return s, nil
}

// key is what a page is saved under.
func (pg *page) key() string { return pg.prefixes[0].String() }

// comparePages tells which of two lists begins with the smaller page; one that has ended does not.
func comparePages(before, after []*page) int {
	switch {
	case len(before) == 0:
		return 1
	case len(after) == 0:
		return -1
	}
	return before[0].prefixes[0].Compare(after[0].prefixes[0])
}

func (s *Saved) put(pg *page) {
	if b := s.Table.encoded(pg); len(b) > 0 {
		s.Set[pg.key()] = b
		return
	}
	s.Gone = append(s.Gone, pg.key())
}

// sources gives the peers, and when their routes were confirmed last: now, where a session is there that
// confirmed any of them.
func (t *Table) sources(now time.Time) []savedSource {
	sources := make([]savedSource, len(t.peers))
	asked := map[uint16]bool{}
	for i, p := range t.peers {
		sources[i] = savedSource{Partner: p.partner, Address: p.address, Confirmed: p.lost, Session: p.session}
		if p.up && p.address.IsValid() && t.tallies[i].Received() > 0 {
			asked[uint16(i)] = true
		}
	}
	for _, claims := range t.claims() {
		if len(asked) == 0 {
			break // most often after the first pages
		}
		for _, c := range claims {
			if asked[c.peer] && !t.peers[c.peer].stale(c) {
				sources[c.peer].Confirmed = now
				delete(asked, c.peer)
			}
		}
	}
	return sources
}

// noteEarlier adds the sessions that were lost and have routes left, perhaps beside those of a later session.
func (r *RIB) noteEarlier(sources []savedSource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range min(len(sources), len(r.sources)) {
		s := r.sources[i]
		if s.partner != sources[i].Partner || s.address != sources[i].Address {
			continue // another one took its place since the table was made
		}
		for _, l := range s.losses {
			sources[i].Earlier = append(sources[i].Earlier, savedSession{l.session, l.at})
		}
	}
}

// encoded writes the routes of a page that are worth keeping.
func (t *Table) encoded(pg *page) []byte {
	var b []byte
	for i, p := range pg.prefixes {
		for _, c := range pg.of(i) {
			if c.refused != 0 || !t.peers[c.peer].address.IsValid() {
				continue
			}
			path := c.path.Value()
			b = append(b, byte(p.Addr().BitLen()/8), byte(p.Bits()))
			b = append(b, p.Addr().AsSlice()...)
			for _, n := range []uint32{uint32(c.peer) | uint32(c.session)<<16, c.pathID, c.since, path.Neighbour, path.Origin, path.Length, path.MED, uint32(len(path.Communities))} {
				b = binary.AppendUvarint(b, uint64(n))
			}
			b = append(b, path.Communities...)
		}
	}
	return b
}
