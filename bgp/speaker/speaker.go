package speaker

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"gslb/bgp/wire"
)

// state is how far a neighbour's session has come; RFC 4271 section 8.2.2 without the states that
// only an active opener has.
type state uint8

const (
	noState     state = iota // the event is not about the state
	fresh                    // the neighbour was just added
	idle                     // connections are closed at once
	active                   // waits for a connection
	opening                  // OPENs are on their way
	established              // UPDATEs may come
)

// waitingEvents is how many events may wait for us outside of gobgp's own queue.
const waitingEvents = 256

// peer is a neighbour and what we know of its session.
type peer struct {
	wire.Neighbour
	state   state
	changes []wire.Change // not told yet
}

// speaker is owned by the goroutine of run.
type speaker struct {
	out      *wire.Writer
	journal  *journal
	events   chan event
	lingered *time.Timer // runs while some peer has changes not told yet

	gobgp  *gobgp // nil before the first Configure
	reader pathReader
	asn    uint32
	id     netip.Addr
	peers  map[netip.Addr]*peer

	// added counts, by address, the neighbours added that gobgp has not told as fresh yet. Until it
	// has told the last one, its events are about those that had the address before.
	added map[netip.Addr]int
}

func newSpeaker(out *wire.Writer) *speaker {
	s := &speaker{out: out, journal: newJournal(), lingered: time.NewTimer(linger),
		peers: make(map[netip.Addr]*peer), added: make(map[netip.Addr]int)}
	s.lingered.Stop()
	return s
}

func (s *speaker) stop() {
	if s.gobgp != nil {
		s.gobgp.stop()
		s.gobgp = nil
	}
}

// log is the message for a line of gobgp's.
func (s *speaker) log(l line) wire.Log {
	m := wire.Log{Level: l.level, Text: l.text}
	if p, ok := s.peers[l.address]; ok {
		m.Neighbour = p.ID
	} else if l.address.IsValid() {
		m.Text += " address=" + l.address.String()
	}
	return m
}

// configure makes what is the same as what is wanted. A neighbour that cannot be had is told in the
// log, and the others are served.
func (s *speaker) configure(c wire.Configure) error {
	wanted, err := check(c)
	if err != nil {
		return fmt.Errorf("configuration from the server: %w", err)
	}
	if s.gobgp == nil || s.asn != c.ASN || s.id != c.RouterID {
		if err := s.restart(c); err != nil {
			return err
		}
	}
	for address, p := range s.peers {
		if wanted[address] != p.Neighbour {
			if err := s.leave(p); err != nil {
				return err
			}
		}
	}
	for _, n := range c.Neighbours {
		if _, ok := s.peers[n.Address]; ok {
			continue
		}
		if err := s.join(n); err != nil {
			return err
		}
	}
	return nil
}

// check refuses what would lead gobgp or us astray.
func check(c wire.Configure) (map[netip.Addr]wire.Neighbour, error) {
	if c.ASN == 0 || !c.RouterID.Is4() {
		return nil, fmt.Errorf("ASN %d and router ID %s: need an ASN and an IPv4 address", c.ASN, c.RouterID)
	}
	wanted := make(map[netip.Addr]wire.Neighbour, len(c.Neighbours))
	ids := make(map[uint32]bool, len(c.Neighbours))
	for _, n := range c.Neighbours {
		_, again := wanted[n.Address]
		switch {
		case n.ID == 0 || ids[n.ID]:
			return nil, fmt.Errorf("neighbour %s: ID %d is zero or given twice", n.Address, n.ID)
		case again || !n.Address.Is4() || !n.Address.IsLoopback():
			return nil, fmt.Errorf("neighbour %d: address %s is not of loopback or given twice", n.ID, n.Address)
		case n.ASN == 0 || !n.IPv4 && !n.IPv6:
			return nil, fmt.Errorf("neighbour %d: has no ASN or no family", n.ID)
		}
		wanted[n.Address] = n
		ids[n.ID] = true
	}
	return wanted, nil
}

// restart begins everything anew with another ASN or router ID.
func (s *speaker) restart(c wire.Configure) error {
	for _, p := range s.peers {
		if err := s.down(p, wire.Reason{Cause: wire.Deconfigured}); err != nil {
			return err
		}
	}
	s.stop()
	clear(s.peers)
	clear(s.added)
	s.journal = newJournal()
	s.events = make(chan event, waitingEvents)
	g, err := start(c, s.journal, s.events)
	if err != nil {
		return err
	}
	s.gobgp, s.reader, s.asn, s.id = g, pathReader{ourASN: c.ASN}, c.ASN, c.RouterID
	return s.out.Write(wire.Listening{Port: g.port})
}

// join begins to wait for a neighbour.
func (s *speaker) join(n wire.Neighbour) error {
	if err := s.gobgp.add(n); err != nil {
		return s.out.Write(wire.Log{Level: slog.LevelError, Neighbour: n.ID, Text: err.Error()})
	}
	s.peers[n.Address] = &peer{Neighbour: n}
	s.added[n.Address]++
	return nil
}

// leave forgets a neighbour; a session that it has ends.
func (s *speaker) leave(p *peer) error {
	delete(s.peers, p.Address)
	removed := s.gobgp.remove(p.Neighbour)
	s.journal.forget(p.Address)
	return cmp.Or(s.down(p, wire.Reason{Cause: wire.Deconfigured}), removed)
}

// event takes one thing that gobgp told.
func (s *speaker) event(e event) error {
	if e.state == fresh {
		s.added[e.address]--
		return nil
	}
	p, ok := s.peers[e.address]
	if !ok || s.added[e.address] > 0 {
		return nil
	}
	switch {
	case e.state != noState:
		return s.enter(p, e.state)
	case p.state != established:
		return nil
	case e.endOfRIB:
		return cmp.Or(s.tell(p), s.out.Write(wire.EndOfRIB{Neighbour: p.ID, IPv6: e.ipv6}))
	}
	return s.learn(p, s.reader.changes(e.paths))
}

func (s *speaker) enter(p *peer, st state) error {
	before := p.state
	p.state = st
	switch st {
	case active:
		return s.out.Write(wire.Session{Neighbour: p.ID, State: wire.Ready})
	case established:
		return s.out.Write(s.gobgp.settled(p.Neighbour))
	case idle:
		if before < opening {
			return nil
		}
		p.state = before
		return cmp.Or(s.down(p, s.journal.end(p.Address)), s.renew(p))
	}
	return nil
}

// renew replaces the neighbour by one that knows of no session yet.
func (s *speaker) renew(p *peer) error {
	delete(s.peers, p.Address)
	removed := s.gobgp.remove(p.Neighbour)
	s.journal.forget(p.Address)
	return errors.Join(removed, s.join(p.Neighbour))
}

// down tells the end of a session, or of an attempt at one.
func (s *speaker) down(p *peer, r wire.Reason) error {
	was := p.state
	p.state = idle
	if was < opening {
		return nil
	}
	return cmp.Or(s.tell(p), s.out.Write(wire.Session{Neighbour: p.ID, State: wire.Down, Reason: r}))
}

// learn keeps changes until there are enough of them, or they have waited long enough.
func (s *speaker) learn(p *peer, changes []wire.Change) error {
	if len(changes) == 0 {
		return nil
	}
	if !s.waiting() {
		s.lingered.Reset(linger)
	}
	p.changes = append(p.changes, changes...)
	if len(p.changes) < fullBatch {
		return nil
	}
	return s.tell(p)
}

func (s *speaker) waiting() bool {
	for _, p := range s.peers {
		if len(p.changes) > 0 {
			return true
		}
	}
	return false
}

// flush tells all changes that are not told yet.
func (s *speaker) flush() error {
	for _, p := range s.peers {
		if err := s.tell(p); err != nil {
			return err
		}
	}
	return nil
}

func (s *speaker) tell(p *peer) error {
	if len(p.changes) == 0 {
		return nil
	}
	err := s.out.Write(wire.Routes{Neighbour: p.ID, Changes: p.changes})
	p.changes = p.changes[:0]
	return err
}
