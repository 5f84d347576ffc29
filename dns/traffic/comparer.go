package traffic

import (
	"net/netip"
	"slices"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/steer"
)

// Sides of a comparison.
const (
	before = 0
	after  = 1
)

// comparer has everything that a comparison reads. It is not written once it is made.
type comparer struct {
	sides     [2]*steer.Snapshot
	crowds    []Crowd // by address
	kinds     []kind  // of the crowds
	pairs     []pair
	partners  []string
	partner   map[string]int32 // index in partners
	countries []string
	country   []int32 // index in countries, by location of the later map
}

// pair is one question, and the two services that answer it.
type pair struct {
	Asked
	service [2]int    // of each policy; -1: none
	words   []string  // what clients can get: what is no place, then the places of both
	number  [2][]int  // index in words, by member of each service
	common  []overlap // of what is given, by index in words
}

// What is no place, as indices in the words of a pair.
const (
	atNoAnswer = iota
	atAllDown
	atNoService
	firstPlace
)

// overlap counts what a place gives to a service, or its all_down rule.
type overlap struct{ before, after, both int }

// kept is the part of a client's traffic that stays where it is, when its place had and has these shares.
func (o overlap) kept(had, has float64) float64 {
	if o.both == o.before && o.both == o.after {
		return min(had, has)
	}
	return float64(o.both) * min(had/float64(max(o.before, 1)), has/float64(max(o.after, 1)))
}

func newComparer(was, is *steer.Snapshot, crowds []Crowd) *comparer {
	c := &comparer{sides: [2]*steer.Snapshot{before: was, after: is}, crowds: inOrder(is, crowds), partners: []string{""}, partner: map[string]int32{}}
	for _, s := range []*steer.Snapshot{is, was} {
		for _, p := range s.Policy().Partners() {
			if _, known := c.partner[p.Name]; !known {
				c.partner[p.Name] = int32(len(c.partners))
				c.partners = append(c.partners, p.Name)
			}
		}
	}
	c.numberCountries()
	c.findKinds()
	c.pairServices()
	return c
}

func (c *comparer) numberCountries() {
	world := c.sides[after].Geo()
	numbers := map[string]int32{"": 0}
	c.countries, c.country = []string{""}, make([]int32, world.Len())
	for i := range c.country {
		name := world.Location(uint32(i)).Country
		n, known := numbers[name]
		if !known {
			n = int32(len(c.countries))
			numbers[name] = n
			c.countries = append(c.countries, name)
		}
		c.country[i] = n
	}
}

func (c *comparer) pairServices() {
	was, is := c.sides[before].Policy(), c.sides[after].Policy()
	old := map[string]int{}
	for i, svc := range was.Services() {
		old[svc.Name()] = i
	}
	for i, svc := range is.Services() {
		j, known := old[svc.Name()]
		if !known {
			j = -1
		}
		delete(old, svc.Name())
		c.ask(svc.Name(), [2]int{before: j, after: i})
	}
	for j, svc := range was.Services() {
		if _, gone := old[svc.Name()]; gone {
			c.ask(svc.Name(), [2]int{before: j, after: -1})
		}
	}
}

// ask adds the questions for a service: one for each family that it has addresses of, on either side.
func (c *comparer) ask(name string, service [2]int) {
	for _, f := range []steer.Family{steer.IPv4, steer.IPv6} {
		p := pair{Asked: Asked{name, f}, service: service, words: []string{NoAnswer, AllDown, NoService}, common: make([]overlap, firstPlace)}
		asked := false
		for side := range c.sides {
			if service[side] >= 0 {
				asked = c.learn(&p, side) || asked
			}
		}
		if asked {
			c.pairs = append(c.pairs, p)
		}
	}
}

// learn adds the places of one side to a pair, and tells whether it has addresses of the family.
func (c *comparer) learn(p *pair, side int) bool {
	svc := c.service(p, side)
	old := c.given(p, before)
	p.number[side] = make([]int, len(svc.Places()))
	seen := map[string]int{}
	for i := firstPlace; i < len(p.words); i++ {
		seen[p.words[i]] = i
	}
	p.common[atAllDown] = p.common[atAllDown].with(side, svc.LastGifts(p.Family), old[atAllDown])
	for i, name := range svc.Places() {
		n, known := seen[name]
		if !known {
			n = len(p.words)
			p.words, p.common = append(p.words, name), append(p.common, overlap{})
		}
		p.number[side][i] = n
		p.common[n] = p.common[n].with(side, svc.Gifts(i, p.Family), old[n])
	}
	return svc.Families()[p.Family]
}

// service gives the service of one side of a pair.
func (c *comparer) service(p *pair, side int) *steer.Service {
	return c.sides[side].Policy().Service(p.service[side])
}

// with counts the gifts of one side; those of the side before are given to compare with.
func (o overlap) with(side int, all, old []steer.Gift) overlap {
	if side == before {
		o.before = len(all)
		return o
	}
	o.after = len(all)
	for _, g := range all {
		if slices.Contains(old, g) {
			o.both++
		}
	}
	return o
}

// given tells what one side that is learned already gives, by index in the pair's words.
func (c *comparer) given(p *pair, side int) map[int][]steer.Gift {
	all := map[int][]steer.Gift{}
	if p.number[side] == nil {
		return all
	}
	svc := c.service(p, side)
	all[atAllDown] = svc.LastGifts(p.Family)
	for i, at := range p.number[side] {
		all[at] = svc.Gifts(i, p.Family)
	}
	return all
}

// findKinds looks up the partner and the country of every crowd.
func (c *comparer) findKinds() {
	c.kinds = make([]kind, len(c.crowds))
	config.AllProcessors().Each((len(c.crowds)+settled-1)/settled, func(portion int) {
		for i := portion * settled; i < min(len(c.crowds), (portion+1)*settled); i++ {
			a := c.crowds[i].Address
			c.kinds[i] = kind{c.partnerOf(a), c.countryOf(a)}
		}
	})
}

// partnerOf finds the partner whose network a client is in: by the best route of the longest prefix.
func (c *comparer) partnerOf(client netip.Addr) int32 {
	for _, s := range []*steer.Snapshot{c.sides[after], c.sides[before]} {
		for _, routes := range s.Routes().Covering(client) {
			best := routes[0]
			if len(routes) > 1 {
				best = bgp.Tiers(routes)[0][0]
			}
			return c.partner[best.Partner]
		}
	}
	return 0
}

func (c *comparer) countryOf(client netip.Addr) int32 {
	location, _ := c.sides[after].Geo().Table().Lookup(client)
	return c.country[location]
}
