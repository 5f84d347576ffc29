package config

import (
	"net/netip"
	"time"
)

// State is what an operator's hand says of an endpoint, whatever its checks say.
type State uint8

const (
	// StateAuto leaves it to the checks.
	StateAuto State = iota
	// StateUp has it serve.
	StateUp
	// StateDown keeps it out.
	StateDown
)

// PlaceKind tells a datacenter from a site.
type PlaceKind uint8

const (
	// Datacenter is a place that every client may be sent to.
	Datacenter PlaceKind = iota
	// Site is a CDN site: offered only to clients matched to it.
	Site
)

// Place is a datacenter or a site.
type Place struct {
	Name                string
	Kind                PlaceKind
	Located             bool
	Latitude, Longitude float64
	Weight              int           // default 100
	DegradedWeight      int           // while all of its endpoints are degraded; default: Weight
	Checks              []string      // of the place as a whole: while one of them fails, none of its endpoints serves
	Addresses           []netip.Addr  // that these probe; those of a family stand for the endpoints of it
	State               State         // of all its endpoints that have none of their own
	PartnersOnly        bool          // only partners' networks lead here, never geography
	Ramp                time.Duration // how long it takes to get all of its clients back; 0: at once
	Capacity            float64       // what it can carry, in the unit of demands; 0: not known
}
