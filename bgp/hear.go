package bgp

import (
	"context"
	"slices"

	"gslb/bgp/wire"
)

// mostGathered is how many changes of routes are gathered, about. Telling the sink of any costs up to a copy of the
// table, so what came in the meantime is told together.
const mostGathered = 100_000

// hearAll takes a message of the speaker, and what waits behind it as long as that can be told together.
func (s *Sessions) hearAll(m wire.Message) {
	for more := true; more; {
		first, ok := m.(wire.Routes)
		if !ok {
			s.hear(m)
			return
		}
		var all []wire.Routes
		all, m, more = s.gathered(first)
		for _, r := range all {
			s.hear(r)
		}
	}
}

// gathered gives routes and those that wait behind them, joined for each neighbour. The first message of another
// kind ends that, and is given too, if one came: nil is the speaker's death.
func (s *Sessions) gathered(first wire.Routes) (all []wire.Routes, next wire.Message, more bool) {
	all = []wire.Routes{first}
	for n := len(first.Changes); n < mostGathered; {
		select {
		case next = <-s.child.events:
		default:
			return all, nil, false
		}
		r, ok := next.(wire.Routes)
		if !ok {
			return all, next, true
		}
		n += len(r.Changes)
		i := slices.IndexFunc(all, func(o wire.Routes) bool { return o.Neighbour == r.Neighbour })
		if i < 0 {
			all = append(all, r)
			continue
		}
		all[i].Changes = append(all[i].Changes, r.Changes...)
	}
	return all, nil, false
}

// hear takes one message of the speaker, nil for its death, and tells the sink what it means. Messages
// about neighbours that are no longer wanted are old, and passed over.
func (s *Sessions) hear(m wire.Message) {
	switch m := m.(type) {
	case nil:
		s.mourn()
	case wire.Listening:
		s.gate.set(m.Port)
	case wire.Session:
		if r := s.ids[m.Neighbour]; r != nil {
			s.turn(r, m)
		}
	case wire.Routes:
		if s.up[m.Neighbour] {
			s.sink.Routes(s.ids[m.Neighbour].peer, m.Changes)
		}
	case wire.EndOfRIB:
		if s.up[m.Neighbour] {
			s.sink.EndOfRIB(s.ids[m.Neighbour].peer, m.IPv6)
		}
	case wire.Log:
		s.repeat(m)
	}
}

// mourn ends all sessions that are up, since the speaker is gone.
func (s *Sessions) mourn() {
	s.gate.set(0)
	if len(s.up) == 0 {
		return
	}
	clear(s.up)
	for _, r := range s.ids {
		r.settled(wire.Session{})
	}
	s.sink.Lost()
}

// turn follows a session up and down.
func (s *Sessions) turn(r *relay, m wire.Session) {
	if s.up[m.Neighbour] && m.State != wire.Ready {
		s.down(r, m)
	}
	if m.State != wire.Up {
		return
	}
	s.up[m.Neighbour] = true
	r.settled(m)
	r.log.Info("session up", "asn", m.ASN)
	s.sink.Up(r.peer, m)
}

// down tells why a session ended. What ends on the wire is known best by the speaker, and what ends
// the wire by the relay.
func (s *Sessions) down(r *relay, m wire.Session) {
	delete(s.up, m.Neighbour)
	r.settled(wire.Session{})
	cause := r.cause()
	switch m.Reason.Cause {
	case wire.Received, wire.Sent:
		cause = Cause{Administrative: m.Reason.Deliberate(), Text: reasonText(m.Reason)}
	}
	if cause.Text == "" {
		cause.Text = reasonText(m.Reason)
	}
	r.log.Warn("session down", "cause", cause.Text)
	s.sink.Down(r.peer, cause)
}

// repeat puts a line of the speaker in the log.
func (s *Sessions) repeat(m wire.Log) {
	log := s.log
	if r := s.ids[m.Neighbour]; r != nil {
		log = r.log
	}
	log.Log(context.Background(), m.Level, "speaker: "+m.Text)
}
