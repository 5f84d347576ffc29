package traffic

import (
	"cmp"
	"slices"

	"gslb/config"
	"gslb/dns/steer"
)

// What clients can get that is no place. No place has a space in its name.
const (
	NoAnswer  = "no answer"     // no address of the asked family
	AllDown   = "all_down rule" // what the service's all_down says, without any place
	NoService = "no service"    // the configuration has no such service
)

// Move is clients of one kind who get something else than before.
type Move struct {
	Service  string
	Family   steer.Family
	From, To string // places, or none of them: see [NoAnswer]. From one to itself: to other addresses, or hosts, of it
	Partner  string // in whose network the clients are; "": in none
	Country  string // where they are; "": unknown
	Weight   float64
}

// Load is how much of a service a place has, before and after.
type Load struct {
	Service       string
	Family        steer.Family
	Place         string // or none: see [NoAnswer]
	Before, After float64
}

// Asked is one question that every client asks: for a service's addresses of a family.
type Asked struct {
	Service string
	Family  steer.Family
}

// Group is clients that have something in common.
type Group struct {
	Name   string
	Weight float64
}

// Comparison tells what clients get before and after. Every client asks every question once; so the
// weight of all answers is the weight of all clients, times the number of questions.
type Comparison struct {
	Weight    float64 // of all clients
	Asked     []Asked // in the order of the services after, then those that are gone
	Moves     []Move  // the heaviest first; empty: nothing moves
	Loads     []Load  // in the order of Asked
	Partners  []Group // clients in the networks of each partner, by name
	Countries []Group // clients of each country, by name
}

// Answers is the weight of all answers.
func (c *Comparison) Answers() float64 { return c.Weight * float64(len(c.Asked)) }

// Moved is the weight of the answers that move.
func (c *Comparison) Moved() float64 {
	var sum float64
	for _, m := range c.Moves {
		sum += m.Weight
	}
	return sum
}

// Compare decides for every client by both snapshots, and tells what differs. It compares what clients can
// expect (see [steer.Outlook]), not the luck of a draw: of one whose place had a third of its
// traffic and has a half now, a sixth moves. Services, places and partners are the same when
// their names are. The country of a client is that of the later snapshot's map.
//
// It decides on all processors; the result does not depend on how many there are, and not on the order
// of the crowds.
func Compare(before, after *steer.Snapshot, crowds []Crowd) *Comparison {
	c := newComparer(before, after, crowds)
	tallies := make([]*tally, len(c.pairs))
	config.AllProcessors().Each(len(c.pairs), func(i int) { tallies[i] = c.tally(&c.pairs[i]) })
	return c.result(tallies)
}

// nothing is the least part of an answer that counts as moved: less comes from rounding.
const nothing = 1e-9

// sorted puts moves in order: the heaviest first, then by name.
func sorted(moves []Move) []Move {
	slices.SortFunc(moves, func(a, b Move) int {
		return cmp.Or(
			cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Family, b.Family),
			cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Partner, b.Partner), cmp.Compare(a.Country, b.Country),
		)
	})
	return moves
}
