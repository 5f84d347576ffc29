package traffic

import (
	"cmp"
	"net/netip"
	"slices"

	"gslb/dns/steer"
)

// kind is what clients have in common who are counted together: indices in a comparer's lists.
type kind struct{ partner, country int32 }

// flow is clients of one kind who go from one thing to another, by indices in the words of a pair.
type flow struct {
	kind
	from, to int32
}

// part is the share of something that clients can get, by its index in the words of a pair.
type part struct {
	at    int
	share float64
}

// tally counts what clients get from one pair. It is for one goroutine.
//
// It counts a run of clients at once: clients of one kind, one behind the other, who get the same.
type tally struct {
	pair  *pair
	loads [][2]float64 // on each side, by index in the words of the pair
	flows map[flow]float64

	outlooks [2]*steer.Outlook // nil: no service
	parts    [2][]float64      // of the run that is being counted, by index in the words; 0 between runs

	kind
	blocks [2]netip.Prefix // around the last client: in it everybody can expect the same, on each side
	gets   [2][]part       // that is this
	weight float64         // of the run
}

// tally goes through all crowds.
func (c *comparer) tally(p *pair) *tally {
	t := &tally{pair: p, loads: make([][2]float64, len(p.words)), flows: map[flow]float64{}}
	t.parts = [2][]float64{make([]float64, len(p.words)), make([]float64, len(p.words))}
	for side, s := range c.sides {
		if p.service[side] >= 0 {
			t.outlooks[side] = s.Outlook(p.service[side], p.Family)
		}
	}
	for i, who := range c.crowds {
		if t.kind != c.kinds[i] || !t.blocks[before].Contains(who.Address) || !t.blocks[after].Contains(who.Address) {
			t.count()
			t.kind = c.kinds[i]
			t.expect(who.Address)
		}
		t.weight += who.Weight
	}
	t.count()
	t.parts, t.outlooks = [2][]float64{}, [2]*steer.Outlook{}
	return t
}

// expect finds out what a client can expect on each side.
func (t *tally) expect(client netip.Addr) {
	for side, o := range t.outlooks {
		if t.blocks[side].Contains(client) {
			continue
		}
		gets := t.gets[side][:0]
		if o == nil {
			t.gets[side], t.blocks[side] = append(gets, part{atNoService, 1}), netip.PrefixFrom(client, 0).Masked()
			continue
		}
		e := o.Of(client)
		for _, s := range e.Shares {
			gets = append(gets, part{t.pair.number[side][s.Member], s.Part})
		}
		switch {
		case len(gets) > 0:
		case e.Placed == steer.PlacedAllDown:
			gets = append(gets, part{atAllDown, 1})
		default:
			gets = append(gets, part{atNoAnswer, 1})
		}
		t.gets[side], t.blocks[side] = gets, e.Block
	}
}

// count adds the run up, and begins another.
func (t *tally) count() {
	if t.weight == 0 {
		return
	}
	for side, parts := range t.gets {
		for _, g := range parts {
			t.loads[g.at][side] += t.weight * g.share
			t.parts[side][g.at] = g.share
		}
	}
	for _, g := range t.gets[before] {
		had, has := g.share, t.parts[after][g.at]
		if renewed := min(had, has) - t.pair.common[g.at].kept(had, has); renewed > nothing {
			t.flows[flow{t.kind, int32(g.at), int32(g.at)}] += t.weight * renewed
		}
	}
	if !slices.Equal(t.gets[before], t.gets[after]) {
		t.countFlows()
	}
	for side, parts := range t.gets {
		for _, g := range parts {
			t.parts[side][g.at] = 0
		}
	}
	t.weight = 0
}

// countFlows says who of the run goes where: what one thing loses goes to all that gain, as much as each gains.
func (t *tally) countFlows() {
	var gained float64
	for _, to := range t.gets[after] {
		gained += max(0, to.share-t.parts[before][to.at])
	}
	if gained <= nothing {
		return
	}
	for _, from := range t.gets[before] {
		lost := from.share - t.parts[after][from.at]
		if lost <= nothing {
			continue
		}
		for _, to := range t.gets[after] {
			if gain := to.share - t.parts[before][to.at]; gain > nothing {
				t.flows[flow{t.kind, int32(from.at), int32(to.at)}] += t.weight * lost * gain / gained
			}
		}
	}
}

// result puts names to the numbers of a comparison.
func (c *comparer) result(tallies []*tally) *Comparison {
	partners, countries := make([]float64, len(c.partners)), make([]float64, len(c.countries))
	r := &Comparison{}
	for i, who := range c.crowds {
		r.Weight += who.Weight
		partners[c.kinds[i].partner] += who.Weight
		countries[c.kinds[i].country] += who.Weight
	}
	r.Partners, r.Countries = groups(c.partners, partners), groups(c.countries, countries)
	for _, t := range tallies {
		p := t.pair
		r.Asked = append(r.Asked, p.Asked)
		for i, l := range t.loads {
			if l != [2]float64{} {
				r.Loads = append(r.Loads, Load{p.Service, p.Family, p.words[i], l[before], l[after]})
			}
		}
		for f, weight := range t.flows {
			r.Moves = append(r.Moves, Move{
				Service: p.Service, Family: p.Family, From: p.words[f.from], To: p.words[f.to],
				Partner: c.partners[f.partner], Country: c.countries[f.country], Weight: weight,
			})
		}
	}
	r.Moves = sorted(r.Moves)
	return r
}

// groups gives those that have clients and a name, by name.
func groups(names []string, weights []float64) []Group {
	var all []Group
	for i, name := range names {
		if name != "" && weights[i] > 0 {
			all = append(all, Group{name, weights[i]})
		}
	}
	slices.SortFunc(all, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
