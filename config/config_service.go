package config

import (
	"net/netip"
	"time"
)

// Stage is one step by which a service looks for places.
type Stage uint8

const (
	// StagePartners follows the networks that partners announce.
	StagePartners Stage = iota
	// StageGeo follows the service's map, or distance.
	StageGeo
	// StageDatacenters takes all datacenters as one tier.
	StageDatacenters
)

// Pick is how places are taken from a tier.
type Pick uint8

const (
	// PickWeighted draws at random by weight, for each query.
	PickWeighted Pick = iota
	// PickHash keeps one client network on one place (rendezvous hashing).
	PickHash
)

// AllDownMode says what is answered when nothing serves.
type AllDownMode uint8

const (
	// AllDownServe answers as if all were up.
	AllDownServe AllDownMode = iota
	// AllDownNodata answers with no data.
	AllDownNodata
	// AllDownServfail answers SERVFAIL.
	AllDownServfail
	// AllDownAddresses answers with a fixed list.
	AllDownAddresses
)

// AllDown is what is answered when nothing serves.
type AllDown struct {
	Mode      AllDownMode
	Addresses []netip.Addr // with AllDownAddresses
}

// MaxAddresses is how many addresses of either family fit an answer of 1232 bytes with a long name. No answer has more
// places, and max_addresses beyond it is for clients that come again over TCP.
const MaxAddresses = 32

// Service is a thing that clients want and places give.
type Service struct {
	Name         string
	Checks       []string // of which the worst counts; none: always healthy
	TTL          uint32   // seconds
	TTLMin       uint32   // seconds
	Steer        []Stage
	Map          string // empty: nearest by distance
	Answer       int    // places in one answer, at most MaxAddresses; 0: all of the winning tier, or as many
	Pick         Pick
	AllDown      AllDown
	MaxAddresses int
	HTTPS        *HTTPS        // nil: the service answers no HTTPS questions
	Demand       float64       // what its clients ask for, in the unit of capacities; 0: not known
	MinPlaces    int           // so many places drains and states by hand must leave; 0: none
	Ramp         time.Duration // of the members that give none; 0 also where each place's own holds
	At           []Member
}

// HTTPS is what a service's HTTPS records tell beside the addresses (RFC 9460).
type HTTPS struct {
	ALPN []string // protocols, the preferred first
	Port uint16   // 0: the usual one
}

// Member is a place's part in a service.
type Member struct {
	Place      string
	Endpoints  []Endpoint
	Host       *Host      // in place of endpoints; nil: none
	Probe      netip.Addr // that is probed for the host
	Weight     int        // the place's weight where the member gives none
	Checks     []string   // the service's checks where the member gives none
	MinHealthy Share

	// DegradedWeight is the weight while all endpoints are degraded: the place's where the member gives
	// neither, else its own weight.
	DegradedWeight int

	Ramp time.Duration // the service's, else the place's, where the member gives none
}

// Endpoint is one server of a service in a place.
type Endpoint struct {
	Address netip.Addr // that clients get
	Probe   netip.Addr // that is probed: Address unless another is given
	State   State      // the place's where it is StateAuto
}

// Host is a member that is known by its name rather than by addresses.
type Host struct {
	Name string // a domain name, which is absolute with or without a final dot
	Port uint16 // of a SRV record; 0: the member is given by a CNAME record
}

// Share is a count or a percentage of a place's endpoints.
type Share struct {
	Count   int
	Percent int // used when not 0
}

// Of gives the number of endpoints that the share asks of n, rounded up, between 1 and n for n > 0.
func (s Share) Of(n int) int {
	k := s.Count
	if s.Percent > 0 {
		k = (n*s.Percent + 99) / 100
	}
	return max(1, min(k, n))
}
