package dns

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/steer"
)

// given is how often every place was given, by one worker and for one configuration. Only that worker writes it. The
// policy itself must not live on for being counted.
type given struct {
	config   uint64
	services []servicePlaces
	cells    []cell
	zones    []zoneCell // by their index in the policy; nil: nothing can be counted yet
}

// zoneCell counts the answers from one zone by what became of them.
type zoneCell struct {
	name     string
	outcomes [outcomes]atomic.Uint64
}

// outcome is what became of a question for a name of a zone: an RCODE, of which all but two are rare.
type outcome uint8

const (
	outcomeAnswered outcome = iota // NOERROR
	outcomeDenied                  // NXDOMAIN
	outcomeOther
	outcomes
)

func outcomeOf(rcode int) outcome {
	switch rcode {
	case dns.RcodeSuccess:
		return outcomeAnswered
	case dns.RcodeNameError:
		return outcomeDenied
	}
	return outcomeOther
}

// servicePlaces says where the cells of a service are: one for answers that gave no place, and one for each of its
// members, in their order.
type servicePlaces struct {
	name   string
	places []string // shared with the policy's other snapshots: nobody writes to it
	first  int
}

// cell counts the answers that gave one place, or none, by what placed the client. An answer counts once
// as first, and for each further place beside that: what is given most, one place, costs one addition.
type cell struct {
	first   [steer.PlacedKinds]atomic.Uint64
	beside  [steer.PlacedKinds]atomic.Uint64
	drained atomic.Uint64 // answers that gave it while it was drained
	expiry  atomic.Uint32 // seconds since 1970: when the last of these answers leaves caches; 0: there was none
}

func newGiven(s *steer.Snapshot) given {
	g := given{config: s.Config()}
	n := 0
	for _, svc := range s.Policy().Services() {
		places := svc.Places()
		g.services = append(g.services, servicePlaces{svc.Name(), places, n})
		n += 1 + len(places)
	}
	g.cells = make([]cell, n)
	zones := s.Policy().Zones()
	g.zones = make([]zoneCell, len(zones))
	for i, z := range zones {
		g.zones[i].name = z.Origin().String()
	}
	return g
}

// count takes in the answer of one decision.
func (g *given) count(service int, d *steer.Decision, s *steer.Snapshot, now time.Time) {
	cells := g.cells[g.services[service].first:]
	members := d.Members()
	if len(members) == 0 {
		cells[0].first[d.Placed].Add(1)
		return
	}
	expiry := uint32(now.Unix()) + d.TTL
	c := &cells[1+members[0]]
	c.first[d.Placed].Add(1)
	c.lasts(expiry)
	for _, m := range members[1:] {
		c := &cells[1+m]
		c.beside[d.Placed].Add(1)
		c.lasts(expiry)
	}
	if !d.MayGiveDrained() {
		return
	}
	drained := s.Drained(service)
	for _, m := range members {
		if m < steer.DrainedMembers && drained>>m&1 != 0 {
			cells[1+m].drained.Add(1)
		}
	}
}

// lasts notes until when an answer may be in a cache. It is another moment once a second, at most: else nothing is written.
func (c *cell) lasts(expiry uint32) {
	if c.expiry.Load() < expiry {
		c.expiry.Store(expiry)
	}
}

// ledger is a sum, by name.
type ledger struct {
	given map[ledgerKey]entry
	zones map[string][outcomes]uint64
}

func newLedger() ledger { return ledger{map[ledgerKey]entry{}, map[string][outcomes]uint64{}} }

func (l ledger) clone() ledger { return ledger{maps.Clone(l.given), maps.Clone(l.zones)} }

type ledgerKey struct{ service, place string }

type entry struct {
	first, beside [steer.PlacedKinds]uint64
	drained       uint64
	expiry        uint32
}

// addTo adds what was counted to a sum. The caller holds Counts.mu.
func (g *given) addTo(sum ledger) {
	for _, svc := range g.services {
		for i := range 1 + len(svc.places) {
			key := ledgerKey{service: svc.name}
			if i > 0 {
				key.place = svc.places[i-1]
			}
			e, counted := sum.given[key]
			if g.cells[svc.first+i].addTo(&e) || counted {
				sum.given[key] = e
			}
		}
	}
	for i := range g.zones {
		z := &g.zones[i]
		n := sum.zones[z.name]
		for o := range n {
			n[o] += z.outcomes[o].Load()
		}
		sum.zones[z.name] = n
	}
}

// addTo tells whether there was anything to add.
func (c *cell) addTo(e *entry) (any bool) {
	for i := range c.first {
		first, beside := c.first[i].Load(), c.beside[i].Load()
		any = any || first > 0 || beside > 0
		e.first[i] += first
		e.beside[i] += beside
	}
	e.drained += c.drained.Load()
	e.expiry = max(e.expiry, c.expiry.Load())
	return any
}
