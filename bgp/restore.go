package bgp

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"time"
	"unique"
)

var errSaved = errors.New("not a saved page of routes")

// pageReader reads saved pages back. Many routes have one path, which it makes once.
type pageReader struct {
	paths map[string]unique.Handle[Path] // by the form in which they are saved
}

func newPageReader() *pageReader { return &pageReader{paths: map[string]unique.Handle[Path]{}} }

// leastRoute is the fewest octets that a saved route takes.
const leastRoute = 2 + 4 + 8

// page gives the edits of a saved page. Their peer is an index into the saved sources.
func (r *pageReader) page(b []byte) ([]edit, error) {
	edits := make([]edit, 0, len(b)/leastRoute)
	for len(b) > 0 {
		e, rest, err := r.route(b)
		if err != nil {
			return nil, err
		}
		edits, b = append(edits, e), rest
	}
	return edits, nil
}

func (r *pageReader) route(b []byte) (e edit, rest []byte, err error) {
	if len(b) < 2 || (b[0] != 4 && b[0] != 16) || len(b) < 2+int(b[0]) {
		return e, nil, errSaved
	}
	a, _ := netip.AddrFromSlice(b[2 : 2+b[0]])
	e.prefix = netip.PrefixFrom(a, int(b[1]))
	if !e.prefix.IsValid() || e.prefix != e.prefix.Masked() {
		return e, nil, errSaved
	}
	var own [3]uint32 // peer and session, path ID, since
	if b, err = numbers(b[2+b[0]:], own[:]); err != nil {
		return e, nil, errSaved
	}
	e.claim = claim{peer: uint16(own[0]), session: uint16(own[0] >> 16), pathID: own[1], since: own[2]}
	e.claim.path, rest, err = r.path(b)
	return e, rest, err
}

func (r *pageReader) path(b []byte) (path unique.Handle[Path], rest []byte, err error) {
	var n [5]uint32 // neighbour, origin, length, MED, octets of communities
	rest, err = numbers(b, n[:])
	if err != nil || uint64(len(rest)) < uint64(n[4]) {
		return path, nil, errSaved
	}
	communities, rest := rest[:n[4]], rest[n[4]:]
	form := b[:len(b)-len(rest)]
	path, known := r.paths[string(form)]
	if !known {
		path = unique.Make(Path{Neighbour: n[0], Origin: n[1], Length: n[2], MED: n[3], Communities: string(communities)})
		r.paths[string(form)] = path
	}
	return path, rest, nil
}

// numbers reads as many numbers as there is room for.
func numbers(b []byte, into []uint32) (rest []byte, err error) {
	for i := range into {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > 1<<32-1 {
			return nil, errSaved
		}
		into[i], b = uint32(n), b[size:]
	}
	return b, nil
}

// restored is what an earlier process had learned.
type restored struct {
	sources []savedSource
	pages   [][]edit // in the order of their prefixes
}

// Restore takes in what was saved. It counts from the first Apply on, for the peers that the configuration then has.
// Its routes are stale since they were last confirmed. What cannot be read is passed over, and told.
func (r *RIB) Restore(saved map[string][]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(saved) == 0 {
		return nil
	}
	var sources []savedSource
	if err := json.Unmarshal(saved[sourcesKey], &sources); err != nil {
		return fmt.Errorf("the sources of the saved routes: %w", err)
	}
	var errs []error
	old, reader := &restored{sources: sources}, newPageReader()
	for _, key := range slices.Sorted(maps.Keys(saved)) {
		if key == sourcesKey {
			continue
		}
		edits, err := reader.page(saved[key])
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("saved routes from %s on: %w", strconv.Quote(key), err))
		case len(edits) > 0:
			old.pages = append(old.pages, edits)
		}
	}
	slices.SortFunc(old.pages, func(a, b []edit) int { return a[0].prefix.Compare(b[0].prefix) })
	r.restored = old
	return errors.Join(errs...)
}

// revive gives the edits that put restored routes back in, of sources that are wanted and whose time
// has not run out.
func (r *RIB) revive(now time.Time) []edit {
	old := r.restored
	if old == nil {
		return nil
	}
	r.restored = nil
	home := make([]int, len(old.sources)) // of each saved source, the one of now; -1: none
	for i, from := range old.sources {
		home[i] = r.welcome(from, now)
	}
	total := 0
	for _, page := range old.pages {
		total += len(page)
	}
	edits := make([]edit, 0, total)
	for _, page := range old.pages {
		for _, e := range page {
			if int(e.claim.peer) >= len(home) || home[e.claim.peer] < 0 {
				continue
			}
			i := home[e.claim.peer]
			s := r.sources[i]
			if !slices.ContainsFunc(s.losses, func(l loss) bool { return l.session == e.claim.session }) {
				continue // its time has run out
			}
			e.claim.peer = uint16(i)
			preference, refused := r.partners[s.partner].judge(e.prefix, e.claim.path.Value(), r.vrps)
			e.claim.preference, e.claim.refused = preference, refused.number()
			edits = append(edits, e)
		}
	}
	return edits
}

// welcome gives the index of the source whose routes a saved one's are, which are stale from when each was confirmed
// last; -1 if there is none, or their time has run out.
func (r *RIB) welcome(from savedSource, now time.Time) int {
	for i, s := range r.sources {
		if !s.wanted || !s.address.IsValid() || s.partner != from.Partner || s.address != from.Address {
			continue
		}
		s.session, s.lost, s.losses = from.Session, from.Confirmed, nil
		for _, l := range append(from.Earlier, savedSession{from.Session, from.Confirmed}) {
			lost := loss{l.Session, l.Confirmed}
			known := slices.ContainsFunc(s.losses, func(k loss) bool { return k.session == l.Session })
			if now.Before(r.leaves(s, lost)) && !known {
				s.losses = append(s.losses, lost)
			}
		}
		if len(s.losses) == 0 {
			return -1
		}
		return i
	}
	return -1
}
