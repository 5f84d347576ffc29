package sheet

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/traffic"
)

// fullest is the part of its capacity that a place may be filled to when another one is lost. Above it there is no
// room for what no one reckoned with.
const fullest = 0.75

// Capacities is what gslb check tells of the places' capacity, in the form of its JSON. Nil tells of nothing.
type Capacities struct {
	Clients   Clients   `json:"clients"`
	Known     bool      `json:"known"`          // the demand of some service is; else loads are parts of 1 of whatever it is
	Most      float64   `json:"most,omitempty"` // unknown demand: with up to so much, every loss leaves the others within fullest
	Uncounted []string  `json:"uncounted"`      // services whose demand is not known, where that of others is
	Losses    []lossRow `json:"losses"`         // first what holds while nothing is lost
	Peers     []string  `json:"peers"`          // partners that have BGP sessions, whose routes are not known here
}

// lossRow is what is carried when a place is lost.
type lossRow struct {
	Lost     string    `json:"lost"` // "": none
	Nobody   float64   `json:"nobody"`
	Carriers []carrier `json:"carriers"` // the fullest first, then those whose capacity is not known
}

// carrier is a place that carries something.
type carrier struct {
	Place    string  `json:"place"`
	Load     float64 `json:"load"`
	Capacity float64 `json:"capacity,omitempty"`
	Filled   float64 `json:"filled,omitempty"` // part of 1 of the capacity
}

// Reckon works out the capacities of a configuration, on a day on which everything is up, for clients who were counted in
// a file, or for a sample of the address space when crowds is nil.
func Reckon(cfg *config.Config, sunny *steer.Snapshot, file string, crowds []traffic.Crowd) *Capacities {
	capacity := map[string]float64{}
	for _, p := range cfg.Places {
		if p.Capacity > 0 {
			capacity[p.Name] = p.Capacity
		}
	}
	c := &Capacities{Peers: withPeers(cfg)}
	demand := c.demand(cfg)
	if crowds == nil {
		crowds = traffic.Sample(sunny, sunny, sampleFor(cfg, demand))
	}
	c.Clients = Clients{File: file, Addresses: len(crowds)}
	for _, crowd := range crowds {
		c.Clients.Weight += crowd.Weight
	}
	c.Clients.Weight = digits(c.Clients.Weight)
	for _, l := range traffic.Losses(sunny, demand, crowds) {
		c.Losses = append(c.Losses, rowOf(l, capacity))
	}
	if !c.Known {
		c.forget()
	}
	return c
}

// demand gives the demand of each service. Where none is known they are taken for equals that make a whole of 1.
func (c *Capacities) demand(cfg *config.Config) map[string]float64 {
	demand := map[string]float64{}
	c.Uncounted = []string{}
	for _, s := range cfg.Services {
		if s.Demand > 0 {
			demand[s.Name] = s.Demand
		} else {
			c.Uncounted = append(c.Uncounted, s.Name)
		}
	}
	c.Known = len(demand) > 0
	if !c.Known {
		for _, name := range c.Uncounted {
			demand[name] = 1 / float64(len(c.Uncounted))
		}
		c.Uncounted = []string{}
	}
	return demand
}

// sampleFor is how many clients stand for the address space: fewer where many places of many services are lost, each
// of which asks for them all.
func sampleFor(cfg *config.Config, demand map[string]float64) int {
	const most, least, decisions = 20_000, 1000, 40_000_000
	members := 1
	for _, s := range cfg.Services {
		if demand[s.Name] > 0 {
			members += len(s.At)
		}
	}
	return max(least, min(most, decisions/members))
}

func rowOf(l traffic.Loss, capacity map[string]float64) lossRow {
	row := lossRow{Lost: l.Place, Nobody: digits(l.Unserved), Carriers: []carrier{}}
	for _, a := range l.Carried {
		c := carrier{Place: a.Place, Load: digits(a.Amount), Capacity: capacity[a.Place]}
		if c.Capacity > 0 {
			c.Filled = rounded(a.Amount, c.Capacity)
		}
		row.Carriers = append(row.Carriers, c)
	}
	slices.SortStableFunc(row.Carriers, func(a, b carrier) int {
		return cmp.Or(cmp.Compare(b.Filled, a.Filled), cmp.Compare(b.Load, a.Load))
	})
	return row
}

// digits leaves an amount as many digits as mean something.
func digits(amount float64) float64 {
	if amount == 0 {
		return 0
	}
	scale := math.Pow(10, 9-math.Ceil(math.Log10(amount)))
	return math.Round(amount*scale) / scale
}

// forget turns what each place is filled to by a demand of 1 into the demand that fills none too far.
func (c *Capacities) forget() {
	worst := 0.0
	for _, l := range c.Losses {
		for i := range l.Carriers {
			worst = max(worst, l.Carriers[i].Filled)
			l.Carriers[i].Filled = 0
		}
	}
	if worst > 0 {
		c.Most = digits(fullest / worst)
	}
}

// Warnings tells of every place that some loss fills too far: of the worst one.
func (c *Capacities) Warnings(cfg *config.Config) config.Problems {
	if c == nil || !c.Known {
		return nil
	}
	var warnings config.Problems
	for _, p := range cfg.Places {
		var worst lossRow
		var filled float64
		for _, l := range c.Losses {
			if f := l.filled(p.Name); f > filled {
				worst, filled = l, f
			}
		}
		if filled <= fullest {
			continue
		}
		when := "already while nothing is lost"
		if worst.Lost != "" {
			when = "when " + worst.Lost + " is lost or drained"
			if f := c.Losses[0].filled(p.Name); f > fullest {
				when += ", and to " + percent(f) + " while nothing is lost"
			}
		}
		path := section(p.Kind) + "." + p.Name + ".capacity"
		warnings = append(warnings, config.Problem{Pos: cfg.At(path), Path: path, Warning: true,
			Message: fmt.Sprintf("is filled to %s %s: more than %s", percent(filled), when, percent(fullest))})
	}
	return warnings
}

func (l lossRow) filled(place string) float64 {
	for _, c := range l.Carriers {
		if c.Place == place {
			return c.Filled
		}
	}
	return 0
}

func section(k config.PlaceKind) string {
	if k == config.Site {
		return "sites"
	}
	return "datacenters"
}
