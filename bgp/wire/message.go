package wire

import (
	"log/slog"
	"net/netip"
	"slices"
	"time"
)

// Version is the version of the protocol that this package speaks. It grows with every change of a
// frame's form.
const Version = 3

// Message is one of the messages below; the set is closed.
type Message interface {
	kind() kind
	appendTo(b []byte) []byte
}

// kind is the octet that tells what a frame carries. Zero is no kind.
type kind uint8

const (
	kindHello kind = iota + 1
	kindConfigure
	kindStop
	kindListening
	kindSession
	kindRoutes
	kindEndOfRIB
	kindLog
	kindAlive
)

// Hello is the first message of both ends.
type Hello struct {
	Version uint16
}

// Configure is the whole state that the server wants. The speaker compares it with what it has:
// sessions of neighbours that are the same in both are not touched.
type Configure struct {
	ASN        uint32     // our own; a change of it begins everything anew
	RouterID   netip.Addr // IPv4; the same holds
	Neighbours []Neighbour
}

// Neighbour is one peer as the speaker sees it: a loopback address that the server's relay connects
// from. It is comparable: equal neighbours keep their session.
type Neighbour struct {
	ID              uint32        // given by the server, unique and not zero
	Address         netip.Addr    // 127.x.y.z, unique
	Secret          string        // signs the connections on loopback (RFC 2385), so that no other local user can make one; "": nothing does
	ASN             uint32        // the peer's
	HoldTime        time.Duration // whole seconds; zero: 90 seconds
	Keepalive       time.Duration // whole seconds; zero: a third of the hold time
	IPv4, IPv6      bool          // unicast families; at least one
	AddPath         bool          // take several paths for one prefix (RFC 7911)
	GracefulRestart bool          // announce that we can help a restarting peer (RFC 4724)
}

// Stop asks the speaker to end. It also ends when its input does.
type Stop struct{}

// Listening tells the loopback port on which the speaker takes the relay's connections. It comes
// after the first Configure, and again when a Configure began everything anew.
type Listening struct {
	Port uint16
}

// Session tells that a neighbour's session changed its state. With Up come the fields of what the
// two OPENs settled; with Down comes the Reason.
//
// Down means that nothing is known any more of what the neighbour announces, and no withdrawals
// follow it: what happens to the routes is for the server to decide. Routes told after the next Up
// are a new set.
type Session struct {
	Neighbour uint32
	State     State
	Reason    Reason

	ASN                      uint32
	RouterID                 netip.Addr
	HoldTime                 time.Duration // the smaller of the two; zero: the session needs no keepalives
	IPv4, IPv6               bool
	AddPathIPv4, AddPathIPv6 bool
	GracefulRestart          bool          // the peer announced it, so it will send End-of-RIB
	RestartTime              time.Duration // how long the peer says its restart may take
}

// State is the state of a session.
type State uint8

const (
	Down  State = iota // ended, or an attempt at it failed
	Ready              // the speaker waits for the relay's connection
	Up                 // established: UPDATEs may come
)

func (s State) String() string {
	switch s {
	case Down:
		return "down"
	case Ready:
		return "ready"
	case Up:
		return "up"
	}
	return "unknown"
}

// Reason tells why a session went down.
type Reason struct {
	Cause         Cause
	Code, Subcode uint8  // of the NOTIFICATION, when the cause is one
	Text          string // the shutdown communication (RFC 9003), or what the speaker knows beside the cause
}

// Cause is the kind of event that ended a session.
type Cause uint8

const (
	Unknown      Cause = iota // nobody said why
	Received                  // the peer sent a NOTIFICATION
	Sent                      // we sent a NOTIFICATION
	Lost                      // the connection closed without a word
	Refused                   // the two OPENs did not come to a session
	Deconfigured              // a Configure took the neighbour away or changed it
)

func (c Cause) String() string {
	switch c {
	case Received:
		return "received"
	case Sent:
		return "sent"
	case Lost:
		return "lost"
	case Refused:
		return "refused"
	case Deconfigured:
		return "deconfigured"
	}
	return "unknown"
}

// Codes of a NOTIFICATION that say that the session's end is the sender's will (RFC 4271 section
// 4.5, RFC 4486, RFC 8538).
const (
	Cease                  = 6
	AdministrativeShutdown = 2
	PeerDeconfigured       = 3
	HardReset              = 9
)

// Deliberate tells whether the partner wants the session to be over, as against having lost it:
// its routes are then to be withdrawn at once instead of being kept as stale.
func (r Reason) Deliberate() bool {
	if r.Cause != Received || r.Code != Cease {
		return false
	}
	return r.Subcode == AdministrativeShutdown || r.Subcode == PeerDeconfigured || r.Subcode == HardReset
}

// Routes tells what a neighbour announced and withdrew, in the order in which it did.
type Routes struct {
	Neighbour uint32
	Changes   []Change
}

// Change is one prefix announced or withdrawn. Within one session Prefix and PathID name a route,
// and a later announcement replaces the earlier.
type Change struct {
	Prefix   netip.Prefix // masked
	PathID   uint32       // zero without ADD-PATH
	Withdraw bool
	Path     Path // the zero Path when withdrawn
}

// Path is what steering needs of a route's attributes. Its slices may be shared between changes:
// nobody writes to them.
type Path struct {
	Origin       uint32 // last ASN of the AS_PATH; of an empty one: the peer's; 0: it ends in an AS_SET
	PathLength   uint32 // RFC 4271 section 9.1.2.2 a: an AS_SET counts as one, confederation segments as none
	NeighbourASN uint32 // first ASN of the AS_PATH, within which MED compares; the peer's where there is none
	MED          uint32 // 0 where there is none
	LocalPref    uint32 // 100 where there is none, and always from another AS
	Loop         bool   // our own ASN stands in the AS_PATH: the route must not be used (RFC 4271 section 9.1.2)
	Communities  []uint32
	Large        [][3]uint32
}

// Equal tells whether two paths say the same.
func (p *Path) Equal(o *Path) bool {
	return p.Origin == o.Origin && p.PathLength == o.PathLength && p.NeighbourASN == o.NeighbourASN &&
		p.MED == o.MED && p.LocalPref == o.LocalPref && p.Loop == o.Loop &&
		slices.Equal(p.Communities, o.Communities) && slices.Equal(p.Large, o.Large)
}

// EndOfRIB tells that the neighbour finished its first announcement of a family (RFC 4724 section
// 2). All routes that came before it have been told.
type EndOfRIB struct {
	Neighbour uint32
	IPv6      bool
}

// Log is a line that the speaker wants in the server's log.
type Log struct {
	Level     slog.Level
	Neighbour uint32 // 0: none in particular
	Text      string
}

// Alive comes about every second from a speaker whose loops turn, gobgp's too.
type Alive struct{}

func (Hello) kind() kind     { return kindHello }
func (Configure) kind() kind { return kindConfigure }
func (Stop) kind() kind      { return kindStop }
func (Listening) kind() kind { return kindListening }
func (Session) kind() kind   { return kindSession }
func (Routes) kind() kind    { return kindRoutes }
func (EndOfRIB) kind() kind  { return kindEndOfRIB }
func (Log) kind() kind       { return kindLog }
func (Alive) kind() kind     { return kindAlive }
