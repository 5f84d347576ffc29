package health

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
	"unique"
)

// Saved is one endpoint as it outlives the process. It encodes as JSON. An endpoint that is shared
// by several checks is saved once for each, so that none loses its thread.
type Saved struct {
	Address netip.Addr `json:"address"`
	Name    string     `json:"name"`  // of the check
	Check   string     `json:"check"` // fingerprint of the check's content
	Verdict Verdict    `json:"verdict"`
	Since   time.Time  `json:"since"`
	Bits    uint64     `json:"bits"`
	Results int        `json:"results"`
	At      time.Time  `json:"at"` // of the newest result; zero without one
	Cause   string     `json:"cause,omitempty"`
}

// MarshalText writes the word for the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word that [Verdict.MarshalText] writes.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Unknown, Up, Withdrawn} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("verdict %q: not one of unknown, up, withdrawn", text)
}

// Save gives all endpoints, by address and name. Before the first Apply it gives what was restored,
// so that a process that ends early loses nothing.
func (b *Board) Save() []Saved {
	all := b.save()
	slices.SortFunc(all, func(x, y Saved) int {
		return cmp.Or(x.Address.Compare(y.Address), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// save is Save in no order.
func (b *Board) save() []Saved {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.past != nil {
		return slices.Collect(maps.Values(b.past.byThread))
	}
	prints := fingerprints{}
	all := make([]Saved, 0, len(b.slots))
	for i, k := range b.roster.keys {
		s := b.slots[i]
		if b.brake.On && s.endpoint.Serving() {
			s.endpoint = s.endpoint.under(k.Check()) // as when the brake comes off
		}
		for _, name := range b.names[i] {
			all = append(all, Saved{
				Address: k.Address, Name: name, Check: prints.of(k),
				Verdict: s.endpoint.Verdict, Since: s.endpoint.Since, Cause: s.endpoint.Cause,
				Bits: s.endpoint.Bits, Results: s.endpoint.Results, At: s.at,
			})
		}
	}
	return all
}

// fingerprints remembers those that were computed: many endpoints share few checks.
type fingerprints map[unique.Handle[Check]]string

// of gives the fingerprint of a key's check.
func (f fingerprints) of(k Key) string {
	print, ok := f[k.check]
	if !ok {
		print = k.Check().fingerprint()
		f[k.check] = print
	}
	return print
}

// Restore hands the board what an earlier process saved. The first Apply takes from it: a target
// with the same address and check goes on where it was, except that a window of which the newest
// result is older than the window is long starts empty, since it tells of another time; a target with
// the same address and name but another check keeps its verdict. What no target takes is forgotten.
// Restore has no effect after the first Apply.
func (b *Board) Restore(saved []Saved, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.past != nil {
		b.past = newPast(saved, now)
	}
}

// identity is a [Key] as it is saved.
type identity struct {
	address netip.Addr
	check   string
}

// past is what was restored, found by the two ways in which a target can continue it.
type past struct {
	byIdentity map[identity]Saved
	byThread   map[thread]Saved
	prints     fingerprints // of the checks that were looked for
}

// newPast orders what was saved. No verdict began after now, whatever the clock said when it was saved.
func newPast(saved []Saved, now time.Time) *past {
	p := &past{
		byIdentity: make(map[identity]Saved, len(saved)),
		byThread:   make(map[thread]Saved, len(saved)),
		prints:     fingerprints{},
	}
	for _, s := range saved {
		if s.Since.After(now) {
			s.Since = now
		}
		p.byIdentity[identity{s.Address, s.Check}] = s
		p.byThread[thread{s.Address, s.Name}] = s
	}
	return p
}

// same gives the slot with which an unchanged key continues. A nil past has none.
func (p *past) same(k Key, now time.Time) (slot, bool) {
	if p == nil {
		return slot{}, false
	}
	s, ok := p.byIdentity[identity{k.Address, p.prints.of(k)}]
	if !ok {
		return slot{}, false
	}
	rule := k.Check().Rule()
	w := Window{Bits: s.Bits, Results: max(0, min(s.Results, rule.Window))}
	w.Bits &= ^uint64(0) >> (windowMax - w.Results)
	if now.Sub(s.At) > k.Check().span() {
		w = Window{}
	}
	return slot{endpoint: s.endpoint().holding(w, rule), at: s.At}, true
}

// edited gives the endpoint that a target with another check continues. A nil past has none.
func (p *past) edited(line thread) (Endpoint, bool) {
	if p == nil {
		return Endpoint{}, false
	}
	s, ok := p.byThread[line]
	return s.endpoint(), ok
}

// endpoint is what does not depend on the check.
func (s Saved) endpoint() Endpoint {
	return Endpoint{Verdict: s.Verdict, Since: s.Since, Cause: s.Cause}
}
