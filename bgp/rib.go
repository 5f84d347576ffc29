package bgp

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"gslb/bgp/rpki"
	"gslb/bgp/wire"
)

// RIB gathers what the sessions bring, judges it, and publishes it as tables. Its functions are those
// of a [Sink]. It is safe for concurrent use; but for Run it reads no clock but the one it is given.
//
// A session's first routes are held back until those of their family are complete, and then count all at once. What
// a lost session had announced stays, stale, until the session confirms it, its end-of-RIB shows
// that it is gone, or the partner's time for it has run out.
type RIB struct {
	changed chan struct{} // one slot
	wake    chan struct{} // one slot: a deadline may be nearer than the one that Run waits for
	latest  atomic.Pointer[Table]

	mu       sync.Mutex
	partners map[string]*Partner
	sources  []*source // by claim.peer
	restored *restored // waits for the first Apply
	vrps     *rpki.Set // by which origins are judged; nil: not at all
}

// source is where routes come from: a peer, or the configuration of a partner.
type source struct {
	peerState
	wanted  bool      // stands in the configuration
	losses  []loss    // lost sessions whose routes may still be there, stale
	syncing bool      // its first routes of this session are held back
	began   time.Time // when the first of them came; zero: none has
	heard   time.Time // when they last were much more than before
	counted int       // so many they were then
	pending []edit    // judged by what is believed now
	ended   [2]bool   // families whose end-of-RIB came, of which nothing is held back
	begins  [2]bool   // families that the session carries
	ends    bool      // the peer is to tell the end of its first routes
}

// loss is the end of a session by nobody's will. Its routes that no session confirms since leave when the time of their
// partner for stale ones has run out.
type loss struct {
	session uint16
	at      time.Time
}

// NewRIB gives an empty RIB.
func NewRIB() *RIB {
	r := &RIB{changed: make(chan struct{}, 1), wake: make(chan struct{}, 1), partners: map[string]*Partner{}}
	r.latest.Store(&Table{})
	return r
}

// Latest is the newest table.
func (r *RIB) Latest() *Table { return r.latest.Load() }

// Changed gets a signal when there is a newer table.
func (r *RIB) Changed() <-chan struct{} { return r.changed }

// Apply makes the partners and peers those of the configuration. Everything is judged anew. What came from
// a partner or peer that is no longer there leaves at once.
func (r *RIB) Apply(partners []Partner, peers []Peer, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer signal(r.wake) // stale routes may have another time
	r.partners = map[string]*Partner{}
	r.recall(partners, peers)
	var edits []edit
	for _, p := range partners {
		r.partners[p.Name] = &p
		i := r.source(p.Name, netip.Addr{})
		r.sources[i].wanted, r.sources[i].up = true, true
		for _, n := range p.Networks {
			edits = append(edits, edit{prefix: n.Masked(), claim: claim{path: unique.Make(Path{}), preference: DefaultPreference, peer: uint16(i)}})
		}
	}
	for _, p := range peers {
		r.sources[r.source(p.Partner, p.Address)].wanted = true
	}
	for _, s := range r.sources {
		if !s.wanted {
			s.forget()
		}
	}
	r.reconsider()
	edits = append(edits, r.revive(now)...)
	old := r.Latest()
	t := old.swept(r.states(), r.keeps).edited(edits, r.states())
	if old.version > 0 && slices.Equal(old.peers, t.peers) && !t.differs(old) {
		return
	}
	r.publish(t)
}

// recall says of the sources that are there whether they are wanted. It comes before new ones are made,
// which take the places of those that are not.
func (r *RIB) recall(partners []Partner, peers []Peer) {
	type name struct {
		partner string
		address netip.Addr
	}
	wanted := make(map[name]bool, len(partners)+len(peers))
	for _, p := range partners {
		wanted[name{partner: p.Name}] = true
	}
	for _, p := range peers {
		wanted[name{p.Partner, p.Address}] = true
	}
	for _, s := range r.sources {
		s.wanted = wanted[name{s.partner, s.address}]
	}
}

// Validate judges the origins of all routes, from now on, by these VRPs.
func (r *RIB) Validate(vrps *rpki.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vrps = vrps
	r.reconsider()
	old := r.Latest()
	t := old.swept(r.states(), func(p netip.Prefix, c *claim) bool {
		if s := r.sources[c.peer]; s.wanted && s.address.IsValid() {
			return r.keeps(p, c)
		}
		return true
	})
	if t.differs(old) {
		r.publish(t)
	}
}

// Stale is how long a partner's routes outlive the loss of their session.
func (r *RIB) Stale(partner string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.partners[partner]; p != nil {
		return p.Stale
	}
	return 0
}

// keeps judges a claim again. Static ones are dropped: those that are still wanted are put in anew.
func (r *RIB) keeps(p netip.Prefix, c *claim) bool {
	s := r.sources[c.peer]
	if !s.wanted || !s.address.IsValid() {
		return false
	}
	preference, refused := r.partners[s.partner].judge(p, c.path.Value(), r.vrps)
	c.preference, c.refused = preference, refused.number()
	return true
}

// source gives the index of a source, a new one if need be.
func (r *RIB) source(partner string, address netip.Addr) int {
	free := -1
	for i, s := range r.sources {
		if s.partner == partner && s.address == address {
			return i
		}
		if !s.wanted && free < 0 && (i >= len(r.Latest().tallies) || r.Latest().tallies[i].Received() == 0) {
			free = i
		}
	}
	fresh := &source{peerState: peerState{partner: partner, address: address}}
	if free >= 0 {
		fresh.session = r.sources[free].session
		r.sources[free] = fresh
		return free
	}
	r.sources = append(r.sources, fresh)
	return len(r.sources) - 1
}

// of gives a peer's source; nil for one that is not in the configuration.
func (r *RIB) of(p Peer) (int, *source) {
	for i, s := range r.sources {
		if s.wanted && s.partner == p.Partner && s.address == p.Address {
			return i, s
		}
	}
	return 0, nil
}

func (r *RIB) states() []peerState {
	states := make([]peerState, len(r.sources))
	for i, s := range r.sources {
		states[i] = s.peerState
	}
	return states
}

// publish makes a table the latest, numbered. The caller holds mu.
func (r *RIB) publish(t *Table) {
	t.version = r.Latest().version + 1
	t.losses = make([][]loss, len(r.sources))
	for i, s := range r.sources {
		t.losses[i] = slices.Clone(s.losses)
	}
	r.latest.Store(t)
	signal(r.changed)
	signal(r.wake)
}

// restate publishes the table as it is, with the sessions as they are. The caller holds mu.
func (r *RIB) restate() { r.publish(r.Latest().edited(nil, r.states())) }

// dated notes in a table that is not published yet whose routes are fewer than before.
func (r *RIB) dated(t *Table, now time.Time) *Table {
	for i, before := range r.Latest().tallies {
		if t.tallies[i].Received() < before.Received() {
			r.sources[i].shrank, t.peers[i].shrank = now, now
		}
	}
	return t
}

// signal fills a one-slot channel, if it is empty.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Up begins a session of a peer.
func (r *RIB) Up(p Peer, o Opened) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, s := r.of(p)
	if s == nil {
		return
	}
	s.up, s.session = true, s.session+1
	s.syncing, s.began, s.counted, s.pending = true, time.Time{}, 0, nil
	s.ended, s.begins, s.ends = [2]bool{}, [2]bool{o.IPv4, o.IPv6}, o.Ends
	r.restate()
}

// Routes takes in what a peer announces and withdraws. It says false when the peer has announced
// more than its partner may: then nothing of it was taken, what was there before stays, stale, and
// the caller ends the session.
func (r *RIB) Routes(p Peer, changes []wire.Change, now time.Time) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, s := r.of(p)
	if s == nil || !s.up {
		return true
	}
	edits := r.edits(i, changes, now)
	if s.syncing {
		edits = r.hold(i, edits, now)
	}
	t := r.Latest().edited(edits, r.states())
	if r.closed(t, i, now) {
		return false
	}
	if s.syncing && len(s.pending) > r.limit(i) { // so much of few routes: it is done with its first announcement
		t, s.syncing, s.pending = t.edited(s.pending, r.states()), false, nil
	}
	if !t.is(r.Latest()) {
		r.publish(r.dated(t, now))
	}
	return true
}

// edits judges changes of a source. The routes of one UPDATE follow each other and have one path.
func (r *RIB) edits(i int, changes []wire.Change, now time.Time) []edit {
	s := r.sources[i]
	partner := r.partners[s.partner]
	edits := make([]edit, len(changes))
	var last *wire.Path
	var path Path
	var handle unique.Handle[Path]
	for j := range changes {
		c := &changes[j]
		e := edit{prefix: c.Prefix, withdraw: c.Withdraw, claim: claim{peer: uint16(i), pathID: c.PathID}}
		if !c.Withdraw {
			if last == nil || !last.Equal(&c.Path) {
				last, path = &c.Path, pathOf(c.Path)
				handle = unique.Make(path)
			}
			preference, refused := partner.judge(c.Prefix, path, r.vrps)
			e.claim.path, e.claim.preference, e.claim.refused = handle, preference, refused.number()
			e.claim.since, e.claim.session = uint32(now.Unix()), s.session
		}
		edits[j] = e
	}
	return edits
}

// EndOfRIB says that a peer has announced all it has of a family: that counts, and what is not confirmed by then leaves
// (RFC 4724 section 4.2). With the last family of the session what is left of one that it does not carry leaves, too.
func (r *RIB) EndOfRIB(p Peer, ipv6 bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, s := r.of(p)
	if s == nil || !s.up {
		return
	}
	of := 0
	if ipv6 {
		of = 1
	}
	s.ended[of] = true
	more := s.begins[0] && !s.ended[0] || s.begins[1] && !s.ended[1]
	edits, rest := s.pending, []edit(nil)
	if more {
		edits, rest = s.finished(edits)
		s.began, s.heard, s.counted = now, now, len(rest) // of the other family
	} else {
		s.syncing, s.losses = false, nil
	}
	s.pending = rest
	t := r.Latest().edited(edits, r.states())
	t = t.swept(r.states(), func(p netip.Prefix, c *claim) bool {
		return int(c.peer) != i || c.session == s.session || more && family(p.Addr()) != of
	})
	r.publish(r.dated(t, now))
}

// Down ends a session. What the peer had announced leaves at once when that was somebody's will,
// and is stale otherwise.
func (r *RIB) Down(p Peer, cause Cause, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, s := r.of(p)
	if s == nil {
		return
	}
	if !cause.Administrative {
		r.lose(s, now)
		r.restate()
		return
	}
	s.forget()
	r.publish(r.dated(r.Latest().swept(r.states(), func(_ netip.Prefix, c *claim) bool { return int(c.peer) != i }), now))
}

// Lost ends all sessions at once, by nobody's will.
func (r *RIB) Lost(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sources {
		if s.address.IsValid() {
			r.lose(s, now)
		}
	}
	r.restate()
}

// forget ends a source whose routes leave with it.
func (s *source) forget() {
	if s.address.IsValid() {
		s.up, s.syncing, s.pending, s.losses = false, false, nil, nil
	}
}

// lose makes what a source has announced stale. What the session had not come to confirm does not
// begin its time anew.
func (r *RIB) lose(s *source, now time.Time) {
	if s.up && (!s.syncing || s.ended != [2]bool{}) {
		s.lost = now
		s.losses = append(s.losses, loss{s.session, now})
	}
	s.up, s.syncing, s.pending = false, false, nil
}
