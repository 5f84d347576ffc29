package dns

import (
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/steer"
)

// given is how often every place was given, by one worker and for one configuration. Only that worker writes it. The
// policy itself must not live on for being counted.
type given struct {
	*register
	pages []atomic.Pointer[[]cell] // of [pageServices] services each; nil: none of them was asked for
	zones []zoneCell               // by their index in the policy; nil: nothing can be counted yet
}

// zoneCell counts the answers from one zone by what became of them.
type zoneCell struct {
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

// cell counts the answers that gave one place, or none, by what placed the client. An answer counts once
// as first, and for each further place beside that: what is given most, one place, costs one addition.
type cell struct {
	first   [steer.PlacedKinds]atomic.Uint64
	beside  [steer.PlacedKinds]atomic.Uint64
	drained atomic.Uint64 // answers that gave it while it was drained
	expiry  atomic.Uint32 // seconds since 1970: when the last of these answers leaves caches; 0: there was none
}

func newGiven(r *register) *given {
	return &given{
		register: r,
		pages:    make([]atomic.Pointer[[]cell], (len(r.services)+pageServices-1)/pageServices),
		zones:    make([]zoneCell, len(r.origins)),
	}
}

// cells gives the cells of a service.
func (g *given) cells(service int) []cell {
	page := g.pages[service/pageServices].Load()
	if page == nil {
		made := make([]cell, g.pageSize(service/pageServices))
		page = &made
		g.pages[service/pageServices].Store(page)
	}
	return (*page)[g.services[service].first:]
}

// count takes in the answer of one decision.
func (g *given) count(service int, d *steer.Decision, s *steer.Snapshot, now time.Time) {
	cells := g.cells(service)
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
