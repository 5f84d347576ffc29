package steer

import (
	"cmp"
	"net/netip"
	"slices"

	"gslb/bgp"
	"gslb/config"
)

// Sides of a comparison.
const (
	before = 0
	after  = 1
)

// comparer has everything that a comparison reads. It is not written once it is made.
type comparer struct {
	sides     [2]*Snapshot
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
	common  []overlap // of addresses, by index in words
}

// What is no place, as indices in the words of a pair.
const (
	atNoAnswer = iota
	atAllDown
	atNoService
	firstPlace
)

// overlap counts the addresses that a place gives to a service.
type overlap struct{ before, after, both int }

// kept is the part of a client's traffic that stays at its address, when its place had and has these shares.
func (o overlap) kept(had, has float64) float64 {
	if o.both == o.before && o.both == o.after {
		return min(had, has)
	}
	return float64(o.both) * min(had/float64(max(o.before, 1)), has/float64(max(o.after, 1)))
}

func newComparer(was, is *Snapshot) *comparer {
	c := &comparer{sides: [2]*Snapshot{before: was, after: is}, partners: []string{""}, partner: map[string]int32{}}
	for _, s := range []*Snapshot{is, was} {
		for _, p := range s.in.Policy.partners {
			if _, known := c.partner[p.Name]; !known {
				c.partner[p.Name] = int32(len(c.partners))
				c.partners = append(c.partners, p.Name)
			}
		}
	}
	c.numberCountries()
	c.pairServices()
	return c
}

func (c *comparer) numberCountries() {
	world := c.sides[after].in.Geo
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
	was, is := c.sides[before].in.Policy, c.sides[after].in.Policy
	old := map[string]int{}
	for i, svc := range was.Services() {
		old[svc.name] = i
	}
	for i, svc := range is.Services() {
		j, known := old[svc.name]
		if !known {
			j = -1
		}
		delete(old, svc.name)
		c.ask(svc.name, [2]int{before: j, after: i})
	}
	for j, svc := range was.Services() {
		if _, gone := old[svc.name]; gone {
			c.ask(svc.name, [2]int{before: j, after: -1})
		}
	}
}

// ask adds the questions for a service: one for each family that it has addresses of, on either side.
func (c *comparer) ask(name string, service [2]int) {
	for f := IPv4; f < anyFamily; f++ {
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
	s := c.sides[side]
	svc := &s.in.Policy.services[p.service[side]]
	found := slices.ContainsFunc(svc.allDown.Addresses, func(a netip.Addr) bool { return familyOf(a) == p.Family })
	old := c.given(p, before)
	p.number[side] = make([]int, len(svc.members))
	seen := map[string]int{}
	for i := firstPlace; i < len(p.words); i++ {
		seen[p.words[i]] = i
	}
	for i, m := range svc.members {
		name := s.in.Policy.places[m.place].name
		n, known := seen[name]
		if !known {
			n = len(p.words)
			p.words, p.common = append(p.words, name), append(p.common, overlap{})
		}
		p.number[side][i] = n
		all := s.standings.of(p.service[side])[i].all[p.Family]
		found = found || len(all) > 0
		p.common[n] = p.common[n].with(side, all, old[n])
	}
	return found
}

// with counts the addresses of one side; those of the side before are given to compare with.
func (o overlap) with(side int, all, old []netip.Addr) overlap {
	if side == before {
		o.before = len(all)
		return o
	}
	o.after = len(all)
	for _, a := range all {
		if slices.Contains(old, a) {
			o.both++
		}
	}
	return o
}

// given gives the addresses of every place of one side that is learned already, by index in the pair's words.
func (c *comparer) given(p *pair, side int) map[int][]netip.Addr {
	all := map[int][]netip.Addr{}
	for i, at := range p.number[side] {
		all[at] = c.sides[side].standings.of(p.service[side])[i].all[p.Family]
	}
	return all
}

// decide finds out what a client can expect. Whoever is in the decision's block can expect the same.
func (c *comparer) decide(t *tally, client netip.Addr) {
	for side, s := range c.sides {
		if t.blocks[side].Contains(client) {
			continue
		}
		service, bits := t.pair.service[side], 0
		t.gets[side] = t.gets[side][:0]
		if service < 0 {
			t.gets[side] = append(t.gets[side], part{atNoService, 1})
		} else {
			d := Decide(s, Query{Service: service, Client: Client{Address: client, Source: client}, Family: t.pair.Family})
			t.gets[side], bits = t.pair.expected(&d, s, side, &t.sharers[side], t.gets[side]), d.even(s, service)
		}
		t.blocks[side] = netip.PrefixFrom(client, bits).Masked()
	}
}

// expected appends what a decision lets expect, by index in the words.
func (p *pair) expected(d *Decision, s *Snapshot, side int, sh *sharer, to []part) []part {
	to = sh.parts(d, s, p.service[side], to)
	switch {
	case len(to) > 0:
	case d.Placed == PlacedAllDown:
		return append(to, part{atAllDown, 1})
	default:
		return append(to, part{atNoAnswer, 1})
	}
	for i := range to {
		to[i].at = p.number[side][to[i].at]
	}
	return to
}

// crowd is clients whose address has been looked up.
type crowd struct {
	Crowd
	kind
}

// inOrder gives the clients by the addresses that they are steered by, in their order: neighbours get
// the same, mostly.
func (c *comparer) inOrder(clients []Crowd) []crowd {
	all := make([]crowd, len(clients))
	config.AllProcessors().Each((len(clients)+lookups-1)/lookups, func(portion int) {
		for i := portion * lookups; i < min(len(clients), (portion+1)*lookups); i++ {
			a := c.sides[after].Client(clients[i].Address, Subnet{}).Address
			all[i] = crowd{Crowd{a, clients[i].Weight}, kind{c.partnerOf(a), c.countryOf(a)}}
		}
	})
	slices.SortFunc(all, func(a, b crowd) int { return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Weight, b.Weight)) })
	return all
}

// lookups is how many clients are looked up at a time.
const lookups = 1 << 14

// partnerOf finds the partner whose network a client is in: by the best route of the longest prefix.
func (c *comparer) partnerOf(client netip.Addr) int32 {
	for _, s := range []*Snapshot{c.sides[after], c.sides[before]} {
		for _, routes := range s.in.Routes.Covering(client) {
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
	location, _ := c.sides[after].in.Geo.Table().Lookup(client)
	return c.country[location]
}
