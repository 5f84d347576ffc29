package steer

import (
	"net/netip"
	"slices"
	"time"

	"gslb/config"
	"gslb/dns/zone"
)

// Query is what a decision is made on.
type Query struct {
	Service int
	Client  Client
	Family  Family
	Seed    uint64    // the luck of the draw: any number, a new one for each query
	Now     time.Time // how far places that come back have got; zero: the moment of the snapshot
}

// Placed says which stage found the places of an answer.
type Placed uint8

const (
	// PlacedNowhere means that the service has no place to give.
	PlacedNowhere Placed = iota
	// PlacedPartners means that the client is inside a partner's network.
	PlacedPartners
	// PlacedGeo means that the service's map, or distance, led there.
	PlacedGeo
	// PlacedDatacenters means that the tier of all datacenters won.
	PlacedDatacenters
	// PlacedRest means that only places that no stage had named were left.
	PlacedRest
	// PlacedAllDown means that nothing serves, and the service's all_down rule answered.
	PlacedAllDown
)

// PlacedKinds is how many values of [Placed] there are.
const PlacedKinds = int(PlacedAllDown) + 1

// String gives the word of reasons, logs and metrics.
func (p Placed) String() string {
	return [...]string{"nowhere", "partners", "geo", "datacenters", "rest", "all_down"}[p]
}

// Decision is what a client gets, and enough of the way there to tell why. It is a plain value
// and costs no allocation.
type Decision struct {
	Placed   Placed
	Span     int    // bits of the widest block around the client with these tiers; 0: any client
	TTL      uint32 // seconds
	Servfail bool   // all_down: servfail

	path   path
	tier   int // number of the winning tier on the path; -1: none
	mode   mode
	family Family
	turn   uint64            // how far the addresses are rotated
	wait   wait              // the client, as running ramps see it
	chosen [maxChosen]uint32 // members of the service
	n      int
	fixed  []netip.Addr // all_down: addresses
}

// maxChosen bounds the places of one answer.
const maxChosen = config.MaxAddresses

// mode is how much of a member's standing counts. Each next one is tried when nobody serves by the one before.
type mode uint8

const (
	byStanding    mode = iota // healthy and not drained; of places that come back, those that the client has joined
	rampsIgnored              // healthy and not drained
	withDrained               // healthy; drained ones too, unless hard
	healthIgnored             // not drained
	lastResort                // anything but hard drains
)

// allows tells whether a member may be given, to some client at least.
func (m mode) allows(st *standing) bool {
	switch m {
	case byStanding, rampsIgnored:
		return st.healthy && !st.drained
	case withDrained:
		return st.healthy && !st.hard
	case healthIgnored:
		return !st.drained
	}
	return !st.hard
}

// addresses gives what a member has to give.
func (m mode) addresses(st *standing, f Family) []netip.Addr {
	if m >= healthIgnored {
		return st.all[f]
	}
	return st.up[f]
}

// Decide chooses the sites of one client. It is the only place where that is done: answers,
// reasons and simulations all come through here.
func Decide(s *Snapshot, q Query) (d Decision) {
	d.Make(s, &q)
	return d
}

// Make is [Decide] in the place of a zero value: a decision is large.
func (d *Decision) Make(s *Snapshot, q *Query) {
	svc := &s.in.Policy.services[q.Service]
	d.family, d.turn = q.Family, q.Seed>>32
	s.follow(&d.path, svc, q.Client.Address)
	d.Span = svc.span(q.Client.Address, d.path.span)
	if d.path.n == 0 {
		d.TTL = svc.ttl
		return
	}
	if s.ramps != nil {
		d.wait = waitOf(q, s.in.Now)
	}
	w := s.walk(q.Service, d)
	for m := byStanding; m <= lastResort; m++ {
		if m == healthIgnored && svc.allDown.Mode != config.AllDownServe {
			break
		}
		if m == rampsIgnored && w.ramps == nil {
			continue
		}
		tier, found := w.winner(m, q.Family)
		if !found {
			continue
		}
		d.tier, d.mode, d.Placed = tier, m, d.path.placed(tier)
		w.pick(d, q)
		d.TTL = w.ttl(d)
		if m >= healthIgnored {
			d.Placed, d.TTL = PlacedAllDown, svc.ttlMin
		}
		return
	}
	d.Placed, d.TTL, d.tier = PlacedAllDown, svc.ttlMin, -1
	d.Servfail = svc.allDown.Mode == config.AllDownServfail
	d.fixed = svc.allDown.Addresses
}

// span widens a block's length to what the answer depends on: a hash, and a place that comes back, depend
// on the client's network even where the tiers do not. It does so whether a place comes back or not, since no
// scope depends on health.
func (svc *Service) span(client netip.Addr, span int) int {
	if svc.ramps || svc.hashes {
		return max(span, networkBits(client))
	}
	return span
}

// even is the bits of the widest block around the client in which everybody can expect the same of this snapshot.
// It is wider than the Span where a ramp is configured and none runs.
func (d *Decision) even(s *Snapshot, service int) int {
	if s.ramps == nil && !s.in.Policy.services[service].hashes {
		return d.path.span
	}
	return d.Span
}

// Members are the places of the answer, as indices of the service's places. They are good for as long as the
// decision is.
func (d *Decision) Members() []uint32 { return d.chosen[:d.n] }

// MayGiveDrained tells whether places that are drained could be chosen, since nobody else serves.
func (d *Decision) MayGiveDrained() bool { return d.mode == withDrained || d.mode == lastResort }

// DrainedMembers is how many members of a service [Snapshot.Drained] has bits for.
const DrainedMembers = 64

// Drained gives the first members of a service that are drained, a bit for each.
func (s *Snapshot) Drained(service int) (members uint64) {
	if s.drains == 0 {
		return 0
	}
	for i := range s.standings.of(service) {
		if i < DrainedMembers && s.standings.of(service)[i].drained {
			members |= 1 << i
		}
	}
	return members
}

// Addresses appends the addresses of the answer: those of every chosen place, rotated, at most
// as many as the service allows.
func (d *Decision) Addresses(s *Snapshot, service int, to []netip.Addr) []netip.Addr {
	start := len(to)
	svc, standings := &s.in.Policy.services[service], s.standings.of(service)
	if svc.gives != zone.TypeA {
		return to // see Hosts
	}
	for _, i := range d.chosen[:d.n] {
		to = append(to, d.mode.addresses(&standings[i], d.family)...)
	}
	for _, a := range d.fixed {
		if familyOf(a) == d.family {
			to = append(to, a)
		}
	}
	rotate(to[start:], d.turn)
	return to[:min(len(to), start+svc.maxAddresses)]
}

// rotate turns the addresses so that each is the first equally often.
func rotate[T any](a []T, turn uint64) {
	if len(a) < 2 {
		return
	}
	k := int(turn % uint64(len(a)))
	slices.Reverse(a[:k])
	slices.Reverse(a[k:])
	slices.Reverse(a)
}
