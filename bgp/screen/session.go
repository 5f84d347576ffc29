package screen

import (
	"encoding/binary"
	"net/netip"
)

// Phase is how far a session has come, in the states of RFC 4271 section 8.2.2 that a connection
// can be in.
type Phase uint8

// The phases: the peer's OPEN is awaited, then its KEEPALIVE, then it may send routes.
const (
	OpenSent Phase = iota
	OpenConfirm
	Established
)

// Session is what is known of one connection: the phase, and what the two OPENs settled. It is a
// comparable value; make one with [Expect].
type Session struct {
	Phase Phase
	Ours  Offer
	Own   netip.Addr // ours on this connection, which no route may have as its next hop; the zero Addr: not looked at

	IPv4, IPv6      Family
	FourOctetAS     bool // AS_PATH and AGGREGATOR carry four octets an AS number
	ExtendedNextHop bool
	RouteRefresh    bool // the peer may ask for our routes again
	Internal        bool // the peer is of our own AS
}

// Family is what was settled for one address family.
type Family struct {
	Agreed  bool
	AddPath bool // the peer's prefixes come with path identifiers
}

// Verdict is what becomes of one message of the peer. Its bytes may be those of the message, so it
// is spent when the buffer of the message is used again.
type Verdict struct {
	// Forward is what to hand on to the speaker: no message, one, or several one after the other. An
	// UPDATE of which nothing is left becomes a KEEPALIVE, because it counts for the speaker's hold
	// timer all the same (RFC 4271 section 8.2.2).
	Forward []byte

	Notify    *Notification // the session must end with this; Forward is then nil
	Reason    Reason        // of the gravest error; NoReason: the message was well-formed
	Dropped   int           // attributes left out, malformed or not needed
	Withdrawn int           // prefixes announced by the peer and turned into withdrawals
}

// Expect makes the session of a connection on which our OPEN was sent and the peer's is awaited.
func Expect(ours Offer) Session { return Session{Ours: ours} }

// agree gives the session that two OPENs make, awaiting the peer's KEEPALIVE, or the NOTIFICATION
// when no address family is common to them (RFC 5492 section 3).
func agree(ours, theirs Offer) (Session, *Notification) {
	s := Session{
		Phase: OpenConfirm, Ours: ours,
		IPv4:            agreed(ours.IPv4, theirs.IPv4),
		IPv6:            agreed(ours.IPv6, theirs.IPv6),
		FourOctetAS:     ours.FourOctetAS && theirs.FourOctetAS,
		ExtendedNextHop: ours.ExtendedNextHop && theirs.ExtendedNextHop,
		RouteRefresh:    ours.RouteRefresh,
		Internal:        ours.ASN == theirs.ASN,
	}
	if !s.IPv4.Agreed && !s.IPv6.Agreed {
		return Session{}, refuse(openUnsupportedCapability, ours.families(nil)...)
	}
	return s, nil
}

func agreed(ours, theirs FamilyOffer) Family {
	both := ours.Offered && theirs.Offered
	return Family{Agreed: both, AddPath: both && ours.Receive && theirs.Send}
}

// Screen judges one whole message of the peer, header and all, and gives the session as it is after
// that message.
func (s Session) Screen(message []byte) (Verdict, Session) {
	length, n := Length(message)
	if n == nil && length != len(message) {
		n = badLength(message)
	}
	if n != nil {
		return end(n), s
	}
	switch kind := message[18]; {
	case kind == typeNotification:
		return Verdict{Forward: message}, s
	case kind == typeOpen && s.Phase == OpenSent:
		return s.open(message)
	case kind == typeKeepalive && s.Phase != OpenSent:
		s.Phase = Established
		return Verdict{Forward: message}, s
	case kind == typeUpdate && s.Phase == Established:
		return s.update(message), s
	case kind == typeRefresh && s.Phase == Established:
		return s.refresh(message), s
	default: // RFC 6608: the subcode names the state, the data the type of the message
		return end(&Notification{Code: codeFSM, Subcode: uint8(s.Phase) + 1, Data: []byte{kind}}), s
	}
}

func (s Session) open(message []byte) (Verdict, Session) {
	theirs, n := Open(message)
	if n != nil {
		return end(n), s
	}
	next, n := agree(s.Ours, theirs)
	if n != nil {
		return end(n), s
	}
	next.Own = s.Own
	return Verdict{Forward: theirs.Message()}, next
}

// refresh passes on a request for our routes (RFC 2918) of a family that was agreed on. The
// demarcations of RFC 7313 are never agreed on, so only their length is looked at; other families
// and subtypes are ignored, as both ask.
func (s Session) refresh(message []byte) Verdict {
	body := message[HeaderLength:]
	if len(body) >= 3 && (body[2] == 1 || body[2] == 2) && len(body) != 4 {
		return end(&Notification{Code: codeRefresh, Subcode: refreshBadLength, Data: message})
	}
	if len(body) < 4 {
		return end(badLength(message))
	}
	f, ok := familyOf(binary.BigEndian.Uint16(body), body[3])
	if !ok || !s.family(f).Agreed || !s.RouteRefresh || body[2] != 0 {
		return Verdict{}
	}
	return Verdict{Forward: append(appendHeader(nil, refreshLength, typeRefresh), body[:4]...)}
}

func (s *Session) family(f family) Family {
	if f == ipv4 {
		return s.IPv4
	}
	return s.IPv6
}

// end ends the session for a reason that the NOTIFICATION tells.
func end(n *Notification) Verdict {
	return Verdict{Notify: n, Reason: n.reason()}
}

// reason is the Reason of a NOTIFICATION about anything but an UPDATE.
func (n *Notification) reason() Reason {
	switch n.Code {
	case codeHeader:
		return [...]Reason{headerNotSynchronized: BadMarker, headerBadLength: BadLength, headerBadType: BadType}[n.Subcode]
	case codeOpen:
		return [...]Reason{
			openUnspecific: BadParameter, openVersion: BadVersion, openPeerAS: BadASN, openIdentifier: BadIdentifier,
			openParameter: UnknownParameter, openHoldTime: BadHoldTime, openUnsupportedCapability: NoCommonFamily,
		}[n.Subcode]
	case codeRefresh:
		return BadRefresh
	default:
		return Unexpected
	}
}
