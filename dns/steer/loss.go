package steer

import (
	"cmp"
	"net/netip"
	"slices"

	"gslb/config"
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
// over the clients by their weights, and of each client's to the places that it can expect (see
// [Decision.Shares]), by A or, for a service without IPv4, by AAAA. A lost place is one that is drained hard: it is
// decided by Decide, on this snapshot with that drain.
func Losses(s *Snapshot, demand map[string]float64, clients []Crowd) []Loss {
	l := losses{s: s, clients: s.inOrder(clients), places: make([]bool, len(s.in.Policy.places))}
	for i := range s.in.Policy.services {
		svc := &s.in.Policy.services[i]
		if amount := demand[svc.name]; amount > 0 {
			l.services = append(l.services, carrying{service: i, demand: amount})
			for _, p := range svc.at {
				l.places[p] = true
			}
		}
	}
	config.AllProcessors().Each(len(l.services), func(i int) { l.services[i].usual = l.carry(s, l.services[i].service) })
	all := []Loss{l.loss(nil, -1)}
	for p, counts := range l.places {
		if counts {
			all = append(all, l.loss(s.WithDrain(config.Drain{Target: s.in.Policy.places[p].name, Hard: true}), placeID(p)))
		}
	}
	return all
}

// losses is what the losses of one snapshot are worked out from.
type losses struct {
	s        *Snapshot
	clients  []Crowd // by address
	services []carrying
	places   []bool // by place: it belongs to one of the services
}

// carrying is a service whose demand is known.
type carrying struct {
	service int
	demand  float64
	usual   carried // as things stand
}

// carried is how the clients of a service spread over the places: parts of 1.
type carried struct {
	by       map[placeID]float64
	unserved float64
}

// inOrder gives clients by the addresses that they are steered by, in order: neighbours get the same, mostly.
func (s *Snapshot) inOrder(clients []Crowd) []Crowd {
	all := make([]Crowd, len(clients))
	for i, c := range clients {
		all[i] = Crowd{s.Client(c.Address, Subnet{}).Address, c.Weight}
	}
	slices.SortFunc(all, func(a, b Crowd) int { return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Weight, b.Weight)) })
	return all
}

// loss sums up what is carried on a snapshot that lacks a place; a nil one lacks none.
func (l *losses) loss(left *Snapshot, lost placeID) Loss {
	p := l.s.in.Policy
	spread := make([]carried, len(l.services))
	config.AllProcessors().Each(len(l.services), func(i int) {
		c := l.services[i]
		spread[i] = c.usual
		if _, ok := p.services[c.service].member(lost); ok {
			spread[i] = l.carry(left, c.service)
		}
	})
	sums := make([]float64, len(p.places))
	var all Loss
	for i, c := range l.services {
		for place, part := range spread[i].by {
			sums[place] += c.demand * part
		}
		all.Unserved += c.demand * spread[i].unserved
	}
	if lost >= 0 {
		all.Place = p.places[lost].name
	}
	for place, amount := range sums {
		if amount > 0 {
			all.Carried = append(all.Carried, PlaceAmount{p.places[place].name, amount})
		}
	}
	return all
}

// carry spreads the clients of a service over the places.
func (l *losses) carry(s *Snapshot, service int) carried {
	svc := &s.in.Policy.services[service]
	c := carried{by: map[placeID]float64{}}
	var whole float64
	var block netip.Prefix
	var parts []part
	var sh sharer
	for _, who := range l.clients {
		if !block.Contains(who.Address) {
			d := Decide(s, Query{Service: service, Client: Client{Address: who.Address, Source: who.Address}, Family: svc.Main()})
			parts = sh.parts(&d, s, service, parts[:0])
			block = netip.PrefixFrom(who.Address, d.even(s, service)).Masked()
		}
		whole += who.Weight
		for _, p := range parts {
			c.by[svc.members[p.at].place] += who.Weight * p.share
		}
		if len(parts) == 0 {
			c.unserved += who.Weight
		}
	}
	for place := range c.by {
		c.by[place] /= max(whole, 1e-300)
	}
	c.unserved /= max(whole, 1e-300)
	return c
}
