package sheet

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/traffic"
	"gslb/dns/zone"
)

// Moves is what gslb diff tells, in the form of its JSON. Parts are of 1.
type Moves struct {
	Old       configName     `json:"old"`
	New       configName     `json:"new"`
	Clients   Clients        `json:"clients"`
	Still     bool           `json:"still"` // nothing moves
	Moved     float64        `json:"moved"` // of all answers: each client gets one for each service and type
	Services  []serviceMoves `json:"services"`
	Places    []placeMoves   `json:"places"`
	Partners  []groupMoves   `json:"partners"`
	Countries []groupMoves   `json:"countries"`
	Names     []nameMove     `json:"names"`
	Peers     []string       `json:"peers"` // partners that have BGP sessions, whose routes are not known here

	comparison *traffic.Comparison
}

type configName struct {
	File   string `json:"file"`
	Config string `json:"config"`
}

// Clients says whom a sheet is about.
type Clients struct {
	File      string  `json:"file,omitempty"` // without one: a sample of the address space
	Addresses int     `json:"addresses"`
	Weight    float64 `json:"weight"` // how many clients have these addresses; 1 of a sample
}

// serviceMoves is one question. Its parts are of the clients.
type serviceMoves struct {
	Service string  `json:"service"`
	Type    string  `json:"type"`
	Moved   float64 `json:"moved"`
	Flows   []way   `json:"flows"`
}

// way is from where to where clients move. From one to itself: to other addresses, or hosts, of it.
type way struct {
	From string  `json:"from"`
	To   string  `json:"to"`
	Part float64 `json:"part"`
}

// placeMoves is a place over all services. Its parts are of all answers.
type placeMoves struct {
	Place   string  `json:"place"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	Renewed float64 `json:"renewed"` // those who stay at the place, at other addresses
}

// groupMoves is the clients of a partner, or of a country.
type groupMoves struct {
	Name    string  `json:"name"`
	Clients float64 `json:"clients"` // part of all clients
	Moved   float64 `json:"moved"`   // part of their answers
	Flows   []way   `json:"flows"`   // parts of their answers
}

// nameMove is a name that leads to another service than before; "": to none.
type nameMove struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// MovesOf tells of a comparison of two configurations.
func MovesOf(before, after *config.Config, c *traffic.Comparison, clients Clients) *Moves {
	names := nameMoves(before, after)
	m := &Moves{
		Old: configName{before.File, before.Hash()}, New: configName{after.File, after.Hash()}, Clients: clients,
		Still: len(c.Moves) == 0 && len(names) == 0, Moved: rounded(c.Moved(), c.Answers()),
		Services: serviceRows(c, hostTypes(before, after)), Places: placeRows(c), Names: names, Peers: withPeers(before, after), comparison: c,
	}
	m.Partners = groupRows(c, c.Partners, func(m traffic.Move) string { return m.Partner })
	m.Countries = groupRows(c, withUnknown(c), func(m traffic.Move) string { return m.Country })
	return m
}

// rounded is a part of a whole without the noise of the last digits.
func rounded(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return math.Round(part/whole*1e9) / 1e9
}

// hostTypes gives the record type of every service whose places are known by name, as the later of two configurations that
// has the service says.
func hostTypes(cfgs ...*config.Config) map[string]string {
	types := map[string]string{}
	for _, cfg := range cfgs {
		for _, s := range cfg.Services {
			delete(types, s.Name)
			switch {
			case len(s.At) == 0 || s.At[0].Host == nil:
			case s.At[0].Host.Port == 0:
				types[s.Name] = "CNAME"
			default:
				types[s.Name] = "SRV"
			}
		}
	}
	return types
}

// typeWord is the type of a question; hosts are [hostTypes].
func typeWord(q traffic.Asked, hosts map[string]string) string {
	if q.Family == steer.IPv6 {
		return "AAAA"
	}
	return cmp.Or(hosts[q.Service], "A")
}

func serviceRows(c *traffic.Comparison, hosts map[string]string) []serviceMoves {
	by := map[traffic.Asked][]traffic.Move{}
	for _, m := range c.Moves {
		q := traffic.Asked{Service: m.Service, Family: m.Family}
		by[q] = append(by[q], m)
	}
	rows := make([]serviceMoves, len(c.Asked))
	for i, q := range c.Asked {
		rows[i] = serviceMoves{Service: q.Service, Type: typeWord(q, hosts), Flows: ways(by[q], c.Weight)}
		rows[i].Moved = rounded(weighed(by[q]), c.Weight)
	}
	return rows
}

func weighed(all []traffic.Move) float64 {
	var sum float64
	for _, m := range all {
		sum += m.Weight
	}
	return sum
}

// ways puts moves together that go from one place to another, the broadest way first.
func ways(all []traffic.Move, whole float64) []way {
	type ends struct{ from, to string }
	sums := map[ends]float64{}
	for _, m := range all {
		sums[ends{m.From, m.To}] += m.Weight
	}
	rows := []way{}
	for e, weight := range sums {
		rows = append(rows, way{e.from, e.to, rounded(weight, whole)})
	}
	slices.SortFunc(rows, func(a, b way) int {
		return cmp.Or(cmp.Compare(b.Part, a.Part), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	return rows
}

// placeRows gives every place, those first whose part changes most.
func placeRows(c *traffic.Comparison) []placeMoves {
	sums, renewed := map[string][2]float64{}, map[string]float64{}
	for _, l := range c.Loads {
		s := sums[l.Place]
		sums[l.Place] = [2]float64{s[0] + l.Before, s[1] + l.After}
	}
	for _, m := range c.Moves {
		if m.From == m.To {
			renewed[m.From] += m.Weight
		}
	}
	rows := []placeMoves{}
	for place, s := range sums {
		rows = append(rows, placeMoves{place, rounded(s[0], c.Answers()), rounded(s[1], c.Answers()), rounded(renewed[place], c.Answers())})
	}
	change := func(p placeMoves) float64 { return math.Abs(p.After-p.Before) + p.Renewed }
	slices.SortFunc(rows, func(a, b placeMoves) int {
		return cmp.Or(cmp.Compare(change(b), change(a)), strings.Compare(a.Place, b.Place))
	})
	return rows
}

// withUnknown is the countries, and what is in none of them.
func withUnknown(c *traffic.Comparison) []traffic.Group {
	rest := c.Weight
	for _, g := range c.Countries {
		rest -= g.Weight
	}
	return append(slices.Clone(c.Countries), traffic.Group{Weight: max(0, rest)})
}

// groupRows gives the groups of which some clients move, those first that make most of what moves.
func groupRows(c *traffic.Comparison, groups []traffic.Group, name func(traffic.Move) string) []groupMoves {
	by := map[string][]traffic.Move{}
	for _, m := range c.Moves {
		by[name(m)] = append(by[name(m)], m)
	}
	slices.SortStableFunc(groups, func(a, b traffic.Group) int { return cmp.Compare(weighed(by[b.Name]), weighed(by[a.Name])) })
	rows := []groupMoves{}
	for _, g := range groups {
		if all := by[g.Name]; len(all) > 0 {
			answers := g.Weight * float64(len(c.Asked))
			rows = append(rows, groupMoves{g.Name, rounded(g.Weight, c.Weight), rounded(weighed(all), answers), ways(all, answers)})
		}
	}
	return rows
}

// withPeers gives the partners that have BGP sessions in either configuration.
func withPeers(cfgs ...*config.Config) []string {
	names := map[string]bool{}
	for _, cfg := range cfgs {
		for _, p := range cfg.Partners {
			if len(p.Peers) > 0 {
				names[p.Name] = true
			}
		}
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(names))))
}

// nameMoves gives the names that lead to another service, in order.
func nameMoves(before, after *config.Config) []nameMove {
	was, is := serviceNames(before), serviceNames(after)
	all := maps.Clone(was)
	maps.Copy(all, is)
	rows := []nameMove{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if was[name] != is[name] {
			rows = append(rows, nameMove{name, was[name], is[name]})
		}
	}
	return rows
}

// serviceNames gives the service that each name leads to.
func serviceNames(cfg *config.Config) map[string]string {
	services := map[string]string{}
	for _, z := range cfg.Zones {
		origin, err := zone.ParseName(z.Name)
		if err != nil {
			continue
		}
		for _, s := range z.Services {
			if name, err := zone.ParseRelative(s.Name, origin); err == nil {
				services[strings.TrimSuffix(name.String(), ".")] = s.Service
			}
		}
	}
	return services
}
