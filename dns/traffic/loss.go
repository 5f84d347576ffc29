package traffic

import (
	"gslb/config"
	"gslb/dns/steer"
)

// Loss is what every place carries when one of them is lost.
type Loss struct {
	Place    string        // that is lost; "": none
	Carried  []PlaceAmount // by the places that carry anything, in the order of the configuration
	Unserved float64       // what nobody carries
}

// PlaceAmount is what a place carries, in the unit of demands.
type PlaceAmount struct {
	Place  string
	Amount float64
}

// Losses tells what every place carries: first as things stand, then when any one place is lost, of those that
// belong to a service with a demand, in the order of the configuration. A service's demand is spread
// over the crowds by their weights, and of each to the places that it can expect (see
// [steer.Outlook]), by A or, for a service without IPv4, by AAAA. A lost place is one that is drained hard: it is
// decided on this snapshot with that drain.
func Losses(s *steer.Snapshot, demand map[string]float64, crowds []Crowd) []Loss {
	l := losses{crowds: inOrder(s, crowds), places: s.Policy().PlaceNames()}
	counts := map[string]bool{}
	for i, svc := range s.Policy().Services() {
		if amount := demand[svc.Name()]; amount > 0 {
			l.services = append(l.services, carrying{Service: svc, index: i, demand: amount})
			for _, p := range svc.Places() {
				counts[p] = true
			}
		}
	}
	config.AllProcessors().Each(len(l.services), func(i int) { l.services[i].usual = l.carry(s, &l.services[i]) })
	all := []Loss{l.loss(s, "")}
	for _, p := range l.places {
		if counts[p] {
			all = append(all, l.loss(s.WithDrain(config.Drain{Target: p, Hard: true}), p))
		}
	}
	return all
}

// losses is what the losses of one snapshot are worked out from.
type losses struct {
	crowds   []Crowd // by address
	services []carrying
	places   []string // of the policy
}

// carrying is a service whose demand is known.
type carrying struct {
	*steer.Service
	index  int
	demand float64
	usual  carried // as things stand
}

// carried is how the clients of a service spread over the places: parts of 1.
type carried struct {
	by       []float64 // by member
	unserved float64
}

// loss sums up what is carried on a snapshot that lacks a place; "": it lacks none.
func (l *losses) loss(left *steer.Snapshot, lost string) Loss {
	spread := make([]carried, len(l.services))
	config.AllProcessors().Each(len(l.services), func(i int) {
		c := &l.services[i]
		spread[i] = c.usual
		if c.At(lost) {
			spread[i] = l.carry(left, c)
		}
	})
	sums := map[string]float64{}
	all := Loss{Place: lost}
	for i, c := range l.services {
		for member, part := range spread[i].by {
			sums[c.Places()[member]] += c.demand * part
		}
		all.Unserved += c.demand * spread[i].unserved
	}
	for _, p := range l.places {
		if sums[p] > 0 {
			all.Carried = append(all.Carried, PlaceAmount{p, sums[p]})
		}
	}
	return all
}

// carry spreads the clients of a service over the places.
func (l *losses) carry(s *steer.Snapshot, svc *carrying) carried {
	c := carried{by: make([]float64, len(svc.Places()))}
	var whole float64
	var e steer.Expected
	outlook := s.Outlook(svc.index, svc.Main())
	for _, who := range l.crowds {
		if !e.Block.Contains(who.Address) {
			e = outlook.Of(who.Address)
		}
		whole += who.Weight
		for _, share := range e.Shares {
			c.by[share.Member] += who.Weight * share.Part
		}
		if len(e.Shares) == 0 {
			c.unserved += who.Weight
		}
	}
	for member := range c.by {
		c.by[member] /= max(whole, 1e-300)
	}
	c.unserved /= max(whole, 1e-300)
	return c
}
