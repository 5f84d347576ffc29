package steer

import (
	"iter"
	"net/netip"
	"time"

	"gslb/config"
)

// path is the tiers of one client, as the stages of the service gave them, in order. It only
// points at the interned lists, so it is made without an allocation.
type path struct {
	steps [4]step
	n     int // steps that name a member of the service
	span  int // bits of the widest block in which every address has this path
}

type step struct {
	placed Placed
	list   list
}

// follow puts together what the stages of a service say of a client. The path is empty before.
func (s *Snapshot) follow(p *path, svc *Service, client netip.Addr) {
	for _, stage := range svc.stages {
		switch stage {
		case config.StagePartners:
			l, span := s.partners.at(client)
			p.add(svc, PlacedPartners, l, span)
		case config.StageGeo:
			l, span := s.views[svc.view].at(client)
			p.add(svc, PlacedGeo, l, span)
		case config.StageDatacenters:
			p.step(PlacedDatacenters, svc.places.datacenters)
		}
	}
	p.step(PlacedRest, svc.places.rest)
}

// add adds a list that may name places which the service lacks.
func (p *path) add(svc *Service, placed Placed, l list, span int) {
	p.span = max(p.span, span)
	if svc.anyOf(l) {
		p.step(placed, l)
	}
}

// step adds a list of members of the service, unless it is empty.
func (p *path) step(placed Placed, l list) {
	if len(l) > 0 {
		p.steps[p.n] = step{placed, l}
		p.n++
	}
}

// anyOf tells whether a list names a member of the service.
func (svc *Service) anyOf(l list) bool {
	for _, tier := range l {
		for _, p := range tier {
			if _, ok := svc.places.member(p); ok {
				return true
			}
		}
	}
	return false
}

// tiers gives every tier with its number, counted over all steps.
func (p *path) tiers() iter.Seq2[int, []placeID] {
	return func(yield func(int, []placeID) bool) {
		number := 0
		for i := range p.n {
			for _, tier := range p.steps[i].list {
				if !yield(number, tier) {
					return
				}
				number++
			}
		}
	}
}

// placed gives the stage that a tier came from.
func (p *path) placed(tier int) Placed {
	for i := range p.n {
		if tier < len(p.steps[i].list) {
			return p.steps[i].placed
		}
		tier -= len(p.steps[i].list)
	}
	return PlacedNowhere
}

// at gives the tier with a number.
func (p *path) at(tier int) []placeID {
	for i := range p.n {
		if tier < len(p.steps[i].list) {
			return p.steps[i].list[tier]
		}
		tier -= len(p.steps[i].list)
	}
	return nil
}

// walk is a look along a client's path at how the members of a service stand.
type walk struct {
	svc      *Service
	standing []standing
	rising   bool // see row
	path     *path
	ramps    []ramp // that run, by member; nil: none
	wait
}

// wait is a client at a moment, as running ramps see it. It is set only while some run.
type wait struct {
	network uint64 // see networkSeed
	now     int64  // Unix time in nanoseconds
}

func waitOf(q *Query, built time.Time) wait {
	now := q.Now
	if now.IsZero() {
		now = built
	}
	return wait{networkSeed(q.Client.Address), now.UnixNano()}
}

// walk gives the look that a decision is made by.
func (s *Snapshot) walk(service int, d *Decision) walk {
	row := s.standings.row(service)
	w := walk{svc: &s.in.Policy.services[service], standing: row.members, rising: row.rises, path: &d.path, wait: d.wait}
	if s.ramps != nil {
		w.ramps = s.ramps[service]
	}
	return w
}

// candidate gives the member at a place, if it may be given in a mode: it has an address of the family, or of any with
// anyFamily.
func (w *walk) candidate(p placeID, m mode, f Family) (member int, ok bool) {
	i, ok := w.svc.places.member(p)
	if !ok || !w.standing[i].offers.has(m, f) || w.ramps != nil && m == byStanding && w.waits(i) > 0 {
		return 0, false
	}
	return i, true
}

// candidates gives the candidates of a tier. What every decision asks for goes over the tier itself, which takes half
// the time.
func (w *walk) candidates(tier []placeID, m mode, f Family) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, p := range tier {
			if i, ok := w.candidate(p, m, f); ok && !yield(i) {
				return
			}
		}
	}
}

// winner finds the tier that a family is answered from.
//
// For A it is the first tier that has an IPv4 address to give. AAAA never passes the first tier
// that has anything to give: a farther place must not win because it speaks IPv6. When that tier
// has no address of the family the answer is empty, as long as the service's main family, IPv4
// wherever it has any, is answered; when that is not either, nobody serves in this mode.
func (w *walk) winner(m mode, f Family) (tier int, found bool) {
	main := w.svc.Main()
	if f == IPv4 && f == main {
		return w.first(m, IPv4)
	}
	tier, found = w.first(m, anyFamily)
	if !found || f == main {
		return tier, found
	}
	if f == IPv6 && w.gives(w.path.at(tier), m, IPv6) {
		return tier, true
	}
	_, found = w.first(m, main)
	return tier, found
}

// first gives the first tier with a candidate.
func (w *walk) first(m mode, f Family) (int, bool) {
	number := 0
	for i := range w.path.n {
		for _, tier := range w.path.steps[i].list {
			if w.gives(tier, m, f) {
				return number, true
			}
			number++
		}
	}
	return -1, false
}

// gives tells whether a tier has a candidate.
func (w *walk) gives(tier []placeID, m mode, f Family) bool {
	for _, p := range tier {
		if _, ok := w.candidate(p, m, f); ok {
			return true
		}
	}
	return false
}

// ttl is the least time until the answer could change by itself, within the service's bounds: an
// endpoint that is given may fall, one that is placed at least as well may rise, and the client joins a
// place there that comes back.
func (w *walk) ttl(d *Decision) uint32 {
	var next time.Duration
	for _, i := range d.chosen[:d.n] {
		next = sooner(next, w.standing[i].falls[d.family])
	}
	if d.n == 0 { // an empty answer stands as long as what the tier gives to the other family
		for i := range w.candidates(w.path.at(d.tier), d.mode, anyFamily) {
			next = sooner(next, sooner(w.standing[i].falls[IPv4], w.standing[i].falls[IPv6]))
		}
	}
	if w.rising || w.ramps != nil {
		next = sooner(next, w.better(d.tier))
	}
	if next == 0 {
		return w.svc.ttl
	}
	return min(w.svc.ttl, max(w.svc.ttlMin, uint32(next/time.Second)))
}

// better is how soon a member of any tier up to the last may come back for the client; 0: nothing points that way.
func (w *walk) better(last int) (next time.Duration) {
	left := last + 1 // tiers to look at
	for i := range w.path.n {
		list := w.path.steps[i].list
		for _, tier := range list[:min(left, len(list))] {
			next = sooner(next, w.rises(tier))
		}
		if left -= len(list); left <= 0 {
			break
		}
	}
	return next
}

// rises is how soon a member of a tier may come back for the client; 0: nothing points that way.
func (w *walk) rises(tier []placeID) (next time.Duration) {
	for _, p := range tier {
		i, ok := w.svc.places.member(p)
		if !ok || w.standing[i].drained {
			continue
		}
		next = sooner(next, w.standing[i].rises)
		if w.ramps != nil {
			next = sooner(next, w.waits(i))
		}
	}
	return next
}
