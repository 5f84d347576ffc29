package bgp

import (
	"net/netip"
	"time"
)

// DefaultPreference is the local preference of a route that nothing says otherwise about.
const DefaultPreference = 100

// Route is one partner's claim on one prefix.
type Route struct {
	Prefix     netip.Prefix
	Partner    string
	Peer       netip.Addr // the session it came from; the zero Addr: from configuration
	Path       Path
	PathID     uint32    // tells the paths of one peer apart (RFC 7911)
	Preference uint32    // high wins
	Since      time.Time // when it was learned; zero for a static route
	Stale      time.Time // since when the session is gone that could confirm it; zero: it is not stale
	Refused    Refusal   // why it is not believed; empty: it is
}

// Static tells whether the route stands in the configuration rather than in a session.
func (r Route) Static() bool { return !r.Peer.IsValid() }

// Path is what an announcement says of a prefix, as far as steering cares. It is comparable.
type Path struct {
	Neighbour   uint32 // ASN of the peer, within which MED compares
	Origin      uint32 // last ASN of the AS_PATH, the peer's when that is empty; 0: an AS_SET, or a static route
	Length      uint32 // of the AS_PATH (RFC 4271 section 9.1.2.2); short wins
	MED         uint32 // low wins, among routes of one neighbour only
	Loop        bool   // our own ASN stands in the AS_PATH (RFC 4271 section 9.1.2)
	Communities string // those of RFC 1997 and RFC 8092 that it carries: see [Community]
}

// Refusal says why a route is not believed: a word of a closed list.
type Refusal string

// The reasons why a route is not believed.
const (
	Believed       Refusal = ""
	RefusedDefault Refusal = "default_route"
	RefusedBogus   Refusal = "bogus"
	RefusedLength  Refusal = "length"
	RefusedWithin  Refusal = "outside_within"
	RefusedOrigin  Refusal = "origin"
	RefusedASSet   Refusal = "as_set"
	RefusedLoop    Refusal = "loop"
	RefusedIgnored Refusal = "community_ignore"
	RefusedRPKI    Refusal = "rpki_invalid"
)
