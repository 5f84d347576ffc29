package steer

import (
	"math"
	"math/bits"
	"net/netip"
	"slices"
)

// Outlook tells what the clients of a service can expect of one snapshot over many draws. Where the places of an answer
// are drawn, it gives the chances of the draw, not the places that luck chose this time. It remembers what is laborious
// to work out, so it is for one goroutine.
type Outlook struct {
	s       *Snapshot
	service int
	family  Family

	shares []Share // that were given last
	known  map[drawing][]Share
}

// Share is the part of a client's traffic that a member of a service can expect. Where an answer has several
// places, each one's part is that of its addresses.
type Share struct {
	Member int     // index of the service's places
	Part   float64 // of 1
}

// Expected is what a client can expect.
type Expected struct {
	Placed Placed
	Shares []Share      // that add up to 1, good until the next is asked for; none: no place is given
	Block  netip.Prefix // around the client: in it everybody can expect the same
}

// drawing names a draw of several places out of a tier. The lists of a snapshot are never copied, so
// the tier is known by where its first place stands.
type drawing struct {
	tier *placeID
	mode mode
}

// Outlook looks at a service's addresses of one family.
func (s *Snapshot) Outlook(service int, family Family) *Outlook {
	return &Outlook{s: s, service: service, family: family, known: map[drawing][]Share{}}
}

// Of decides for a client by the address that steers it: see [Snapshot.Client].
func (o *Outlook) Of(client netip.Addr) Expected {
	var d Decision
	d.Make(o.s, &Query{Service: o.service, Client: Client{Address: client, Source: client}, Family: o.family})
	o.shares = o.shares[:0]
	if d.n > 0 {
		o.share(&d)
	}
	return Expected{d.Placed, o.shares, netip.PrefixFrom(client, d.even(o.s, o.service)).Masked()}
}

// share finds the shares of a decision.
func (o *Outlook) share(d *Decision) {
	svc := &o.s.in.Policy.services[o.service]
	w := o.s.walk(o.service, d)
	if svc.hashes {
		for _, i := range d.chosen[:d.n] {
			o.shares = append(o.shares, Share{int(i), w.addresses(d, int(i))})
		}
		normalise(o.shares)
		return
	}
	tier := d.path.at(d.tier)
	total := w.totalWeight(tier, d)
	for i := range w.candidates(tier, d.mode, d.family) {
		if weight := w.weight(i, total); weight > 0 {
			o.shares = append(o.shares, Share{i, float64(weight)})
		}
	}
	switch {
	case len(o.shares) <= svc.answer:
		for i := range o.shares {
			o.shares[i].Part = w.addresses(d, o.shares[i].Member)
		}
	case svc.answer > 1 && w.ramps != nil: // the candidates of one tier are not the same for all clients
		w.several(d, o.shares)
	case svc.answer > 1:
		key := drawing{&tier[0], d.mode}
		if known, ok := o.known[key]; ok {
			copy(o.shares, known)
		} else {
			w.several(d, o.shares)
			o.known[key] = slices.Clone(o.shares)
		}
	}
	normalise(o.shares)
}

// addresses counts what a member would give to the answer.
func (w *walk) addresses(d *Decision, member int) float64 {
	return float64(len(d.mode.addresses(&w.standing[member], d.family)))
}

// normalise makes parts of 1 of amounts. They are summed in their order, so equal amounts give equal parts.
func normalise(shares []Share) {
	var sum float64
	for _, s := range shares {
		sum += s.Part
	}
	for i := range shares {
		shares[i].Part /= sum
	}
}

// several turns the weights of candidates, of which the service answers with more than one and not
// with all, into their shares.
func (w *walk) several(d *Decision, candidates []Share) {
	given := make([]float64, len(candidates))
	for i, c := range candidates {
		given[i] = w.addresses(d, c.Member)
	}
	if len(candidates) <= mostExact {
		exactShares(candidates, given, w.svc.answer)
	} else {
		largeShares(candidates, given, w.svc.answer)
	}
}

// mostExact bounds the candidates whose every possible answer is looked at: there are 2^n.
const mostExact = 12

// exactShares goes through all sets that can be drawn, one place after the other and none twice: to each
// its chance, which its places share by their addresses.
func exactShares(candidates []Share, addresses []float64, want int) {
	chance := make([]float64, 1<<len(candidates))
	chance[0] = 1
	shares := make([]float64, len(candidates))
	for set, p := range chance {
		var left, given float64
		for i, c := range candidates {
			if set>>i&1 == 0 {
				left += c.Part
			} else {
				given += addresses[i]
			}
		}
		drawn := bits.OnesCount(uint(set))
		for i, c := range candidates {
			switch in := set>>i&1 == 1; {
			case drawn == want && in:
				shares[i] += p * addresses[i] / given
			case drawn < want && !in:
				chance[set|1<<i] += p * c.Part / left
			}
		}
	}
	for i := range candidates {
		candidates[i].Part = shares[i]
	}
}

// largeShares is for many candidates, of which any two hardly hinder each other: a place is among the drawn
// as one of independent clocks, each as fast as the place's weight, that has struck by the moment
// at which as many as are wanted can be expected to.
func largeShares(candidates []Share, addresses []float64, want int) {
	struck := func(t float64) (sum float64) {
		for _, c := range candidates {
			sum += -math.Expm1(-c.Part * t)
		}
		return sum
	}
	low, high := 0.0, 1.0
	for struck(high) < float64(want) && high < math.MaxFloat64/2 {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; struck(mid) < float64(want) {
			low = mid
		} else {
			high = mid
		}
	}
	for i, c := range candidates {
		candidates[i].Part = -math.Expm1(-c.Part*high) * addresses[i]
	}
}
