package health

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// thread is what runs through the versions of an edited check.
type thread struct {
	address netip.Addr
	name    string
}

// slot is the board's own copy of one endpoint.
type slot struct {
	endpoint Endpoint
	at       time.Time // of the newest result; zero without one
	took     laps
	turns    uint32 // how often the verdict has changed
	awaited  bool   // it is of the first Apply, and nothing is known of it yet
}

// Board keeps the endpoints and their verdicts. It is passive: it has no goroutine and no clock,
// and everything it does is done when its methods return. All methods are safe for concurrent use.
type Board struct {
	changed chan struct{} // one slot
	settled chan struct{}

	mu       sync.Mutex
	roster   *roster
	slots    []slot     // parallel to roster.keys
	names    [][]string // parallel to roster.keys: of the targets
	bearings []bearing  // parallel to roster.keys
	percent  int        // of failing endpoints from which on the brake holds; 0: never
	brake    Brake
	began    time.Time // while the brake is on: when the failures began for which it came on
	past     *past     // what Restore brought; nil from the first Apply on
	awaited  int       // slots that are
	version  uint64
	latest   *Report
	outdated []bool // by page of the slots: latest shows older ones
}

// NewBoard gives an empty board.
func NewBoard() *Board {
	empty := &roster{}
	return &Board{
		changed: make(chan struct{}, 1),
		settled: make(chan struct{}),
		roster:  empty,
		past:    newPast(nil, time.Time{}),
		version: 1,
		latest:  &Report{version: 1, roster: empty},
	}
}

// Apply makes the targets, and nothing else, the content of the board, and tells which keys came
// and went. Endpoints whose key stays keep everything, whatever the names of their checks. One whose
// check was edited (same address and name, other content) keeps its verdict and starts an empty
// window. All others are new, and unknown. Of several names that lead a new key to a past, the first
// counts.
func (b *Board) Apply(targets []Target, now time.Time) (added, removed []Key) {
	next := enrol(targets)
	slots := make([]slot, len(next.keys))

	b.mu.Lock()
	defer b.mu.Unlock()
	threads := sync.OnceValue(b.threads)
	for i, k := range next.keys {
		if old, ok := b.roster.index[k]; ok {
			slots[i] = b.slots[old]
			continue
		}
		slots[i] = b.begin(k, next.names[i], threads, now)
		added = append(added, k)
	}
	for i, k := range b.roster.keys {
		if _, ok := next.index[k]; !ok {
			removed = append(removed, k)
			b.heard(i)
		}
	}
	if len(added)+len(removed) > 0 {
		b.roster, b.slots, b.names, b.bearings = next.roster, slots, next.names, next.bearings
		b.outdated = slices.Repeat([]bool{true}, (len(slots)+pageSize-1)/pageSize)
		b.touch()
	} else { // the same keys, in whatever order
		b.names, b.bearings = make([][]string, len(b.slots)), make([]bearing, len(b.slots))
		for i, k := range b.roster.keys {
			b.names[i], b.bearings[i] = next.names[next.index[k]], next.bearings[next.index[k]]
		}
	}
	b.reconsider(now)
	b.await()
	return added, removed
}

// enrolment is what targets ask a board for.
type enrolment struct {
	*roster             // the keys of the targets, each once
	names    [][]string // of the targets with a key
	bearings []bearing  // of a key: the domain of its first target, and whether any of its targets is a reference
}

func enrol(targets []Target) *enrolment {
	e := &enrolment{
		roster: &roster{index: make(map[Key]int, len(targets))}, names: make([][]string, 0, len(targets)),
	}
	for at, k := range Keys(targets) {
		t := &targets[at]
		i, ok := e.index[k]
		if !ok {
			i = len(e.keys)
			e.index[k] = i
			e.keys, e.names, e.bearings = append(e.keys, k), append(e.names, nil), append(e.bearings, bearing{domain: t.Domain})
		}
		if !slices.Contains(e.names[i], t.Name) {
			e.names[i] = append(e.names[i], t.Name)
		}
		e.bearings[i].reference = e.bearings[i].reference || t.Reference
	}
	return e
}

// threads gives the keys on the board by what runs through their versions. The caller holds mu.
func (b *Board) threads() map[thread]Key {
	threads := make(map[thread]Key, len(b.slots))
	for i, k := range b.roster.keys {
		for _, name := range b.names[i] {
			threads[thread{k.Address, name}] = k
		}
	}
	return threads
}

// begin gives a key that comes to the board what its past has left it. The caller holds mu.
func (b *Board) begin(k Key, names []string, threads func() map[thread]Key, now time.Time) slot {
	if s, ok := b.past.same(k, now); ok {
		return s
	}
	for _, name := range names {
		line := thread{k.Address, name}
		if old, ok := threads()[line]; ok {
			return slot{endpoint: b.slots[b.roster.index[old]].endpoint.under(k.Check())}
		}
		if e, ok := b.past.edited(line); ok {
			return slot{endpoint: e.under(k.Check())}
		}
	}
	return slot{endpoint: Endpoint{Since: now}.under(k.Check())}
}

// await notes at the first Apply what Settled waits for. The caller holds mu.
func (b *Board) await() {
	if b.past == nil {
		return
	}
	b.past = nil
	for i := range b.slots {
		if s := &b.slots[i]; !s.endpoint.settled() {
			s.awaited = true
			b.awaited++
		}
	}
	if b.awaited == 0 {
		close(b.settled)
	}
}

// heard says that nothing need be waited for of a slot. The caller holds mu.
func (b *Board) heard(i int) {
	s := &b.slots[i]
	if !s.awaited {
		return
	}
	s.awaited = false
	if b.awaited--; b.awaited == 0 {
		close(b.settled)
	}
}

// Record takes in what a probe found at the given time. A result for a key that is not on the board is ignored: a probe
// may outlive its target. A probe that failed for a reason of ours changes nothing, but is no longer waited for.
func (b *Board) Record(k Key, r Result, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, ok := b.roster.index[k]
	if !ok {
		return
	}
	if r.Ours {
		b.heard(i)
		return
	}
	s := &b.slots[i]
	before := s.endpoint
	if now.Sub(s.at) > k.Check().span() {
		s.endpoint = before.under(k.Check()) // its window tells of another time
	}
	was := s.endpoint
	s.endpoint, s.at = was.after(k.Check(), r, now), now
	s.took.add(r.Took)
	if was.Serving() && !s.endpoint.Serving() && !b.bearings[i].reference && b.brakes(k, was, now) {
		s.endpoint.Verdict, s.endpoint.Since, s.endpoint.Held = was.Verdict, was.Since, true
	}
	if s.endpoint != before {
		b.outdated[i/pageSize] = true
		b.touch()
	}
	if s.endpoint.Verdict != before.Verdict {
		s.turns++
	}
	if r.OK {
		b.reconsider(now)
	}
	b.heard(i)
}

// touch notes that some endpoint changed. The caller holds mu.
func (b *Board) touch() {
	b.version++
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// Latest is the state of all endpoints now. It costs only what changed since the last call.
func (b *Board) Latest() *Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.latest.version == b.version {
		return b.latest
	}
	pages := make([]*page, len(b.outdated))
	for i, outdated := range b.outdated {
		if !outdated {
			pages[i] = b.latest.pages[i]
			continue
		}
		pages[i] = b.page(i)
		b.outdated[i] = false
	}
	b.latest = &Report{version: b.version, roster: b.roster, pages: pages, brake: b.brake}
	return b.latest
}

// page copies one page of the slots. The caller holds mu.
func (b *Board) page(i int) *page {
	first := i * pageSize
	var p page
	for j, s := range b.slots[first:min(first+pageSize, len(b.slots))] {
		p[j] = s.endpoint
	}
	return &p
}

// Changed gets a signal when Latest would give another report than before. Signals that nobody has taken merge into
// one.
func (b *Board) Changed() <-chan struct{} { return b.changed }

// Settled is closed once something is known of every target of the first Apply that is still on the
// board: a result, or what Restore brought.
func (b *Board) Settled() <-chan struct{} { return b.settled }

// keys gives what is on the board. The slice is immutable.
func (b *Board) keys() []Key {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.roster.keys
}
