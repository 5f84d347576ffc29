package dns

import (
	"maps"

	"gslb/dns/steer"
)

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

// addTo adds what was counted to a sum. The caller holds Counts.sums.
func (g *given) addTo(sum ledger) {
	for i := range g.pages {
		if page := g.pages[i].Load(); page != nil {
			for _, svc := range g.services[i*pageServices : min((i+1)*pageServices, len(g.services))] {
				svc.addTo(sum, *page)
			}
		}
	}
	for i := range g.zones {
		n := sum.zones[g.origins[i]]
		for o := range n {
			n[o] += g.zones[i].outcomes[o].Load()
		}
		sum.zones[g.origins[i]] = n
	}
}

// addTo adds what the cells of a page say of one of its services.
func (svc *servicePlaces) addTo(sum ledger, page []cell) {
	for i := range 1 + len(svc.places) {
		key := ledgerKey{service: svc.name}
		if i > 0 {
			key.place = svc.places[i-1]
		}
		e, counted := sum.given[key]
		if page[svc.first+i].addTo(&e) || counted {
			sum.given[key] = e
		}
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

// ledger is the sum of all workers.
func (c *Counts) ledger() ledger {
	c.sums.Lock()
	defer c.sums.Unlock()
	counting := c.close()
	sum := c.past.clone()
	for _, g := range counting {
		g.addTo(sum)
	}
	return sum
}

// close takes over what was counted for configurations that are gone, and gives what is being counted. The caller holds
// sums.
func (c *Counts) close() (counting []*given) {
	c.mu.Lock()
	over := c.over
	c.over = nil
	for _, t := range c.tallies {
		counting = append(counting, t.given)
	}
	c.mu.Unlock()
	for _, g := range over {
		g.addTo(c.past)
	}
	return counting
}
