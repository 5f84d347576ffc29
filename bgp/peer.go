package bgp

import (
	"net/netip"
	"time"

	"gslb/bgp/wire"
)

// DefaultPort is where BGP speakers listen (RFC 4271 section 4).
const DefaultPort = 179

// DefaultHoldTime is offered to peers that nothing says otherwise about (RFC 4271 section 10).
const DefaultHoldTime = 90 * time.Second

// Peer is one BGP session as it is wanted. It is comparable: a peer that differs in anything is
// another one, and its session starts anew. Its address tells it apart from all others.
type Peer struct {
	Partner string
	Address netip.Addr // where its connections come from and go to; IPv6 transport with an IPv6 address
	Port    uint16     // where it listens; 0: [DefaultPort]
	ASN     uint32

	Passive      bool       // wait for its connections, open none
	Local        netip.Addr // source address of connections opened by us; the zero Addr: as the kernel chooses
	PasswordFile string     // holds the key of TCP MD5 (RFC 2385), read anew for every connection; "": unsigned
	TTLSecurity  int        // routers it may be away, 1 for a direct neighbour (RFC 5082); 0: however far

	HoldTime  time.Duration // offered; 0: [DefaultHoldTime]
	Keepalive time.Duration // between keepalives; 0: a third of the hold time
	Only      Only          // families that the session carries
	AddPath   bool          // several paths of one prefix are taken (RFC 7911)
}

// Only says which families a session carries.
type Only uint8

const (
	// BothFamilies carries what the peer does, of IPv4 and IPv6.
	BothFamilies Only = iota
	// OnlyIPv4 carries IPv4 prefixes alone.
	OnlyIPv4
	// OnlyIPv6 carries IPv6 prefixes alone.
	OnlyIPv6
)

// port is where the peer listens.
func (p Peer) port() uint16 {
	if p.Port == 0 {
		return DefaultPort
	}
	return p.Port
}

// Local is our side of every session.
type Local struct {
	ASN      uint32
	RouterID netip.Addr
	Listen   []netip.AddrPort // where peers may connect; empty: we open every connection
}

// Cause says why a session ended.
type Cause struct {
	Administrative bool   // the partner's will, or ours by configuration: its prefixes leave at once
	Text           string // in words, never empty
}

// Sink is told what the sessions bring. Its functions are called from one goroutine, the one of
// [Sessions.Run], in the order in which things happened, and never after Run has returned; while one
// of them works, the speaker waits. All must be set.
type Sink struct {
	// Up begins a session. What the peer announces comes from here on.
	Up func(peer Peer, session wire.Session)
	// Down ends it. It also comes for a peer that was not up when that leaves the configuration, or
	// changes its partner or ASN in it.
	Down func(peer Peer, cause Cause)
	// Routes are changes in the order of the peer's UPDATEs. The slice is the callee's to keep.
	Routes func(peer Peer, changes []wire.Change)
	// EndOfRIB says that the peer has announced all it had in one family (RFC 4724 section 2).
	EndOfRIB func(peer Peer, ipv6 bool)
	// Lost ends all sessions at once: the speaker died. No Down comes for them.
	Lost func()
}

// State is how far a peer's session is.
type State uint8

const (
	// Idle waits: for the next attempt, for the peer's connection, or for the speaker.
	Idle State = iota
	// Connecting opens a TCP connection.
	Connecting
	// Open has a TCP connection, on which the OPENs are being exchanged.
	Open
	// Established has seen KEEPALIVEs go both ways after the OPENs.
	Established
)

// String is the word of the state.
func (s State) String() string {
	switch s {
	case Idle:
		return "idle"
	case Connecting:
		return "connecting"
	case Open:
		return "open"
	case Established:
		return "established"
	}
	return "unknown"
}

// PeerView is one peer as the operator sees it.
type PeerView struct {
	Peer    Peer
	State   State
	Since   time.Time      // of the state
	Cause   string         // why the last attempt or session ended, or what stands in the way; "" while nothing did
	Paused  time.Time      // until when the peer is left alone; zero or in the past: it is not
	Local   netip.AddrPort // of the connection; the zero AddrPort without one
	Remote  netip.AddrPort
	Session wire.Session // what the OPENs settled, while the session is up

	Connects uint64 // TCP connections that stood
	Flaps    uint64 // established sessions that ended

	Screened  uint64            // messages from the peer
	Dropped   uint64            // attributes that steering does not need, or malformed ones that harm nothing
	Withdrawn uint64            // prefixes withdrawn because their attributes were malformed (RFC 7606)
	Refused   map[string]uint64 // messages with something wrong, by reason
}

// ListenView is one listening address as the operator sees it.
type ListenView struct {
	Address netip.AddrPort
	Cause   string // why it does not listen; "" when it does
	Unknown uint64 // connections closed because their source is no peer
}
