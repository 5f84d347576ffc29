package steer

import (
	"math"
	"math/bits"
)

// Share is the part of a client's traffic that a place can expect.
type Share struct {
	Place string
	Part  float64 // of 1
}

// Shares gives what a client can expect of a decision, over many draws: the places that share its
// traffic. Where the places of an answer are drawn, these are the chances of the draw, and not the places
// that luck chose this time; where an answer has several places, each one's part is that of its
// addresses. The parts add up to 1. There are none when the answer has no place.
func (d *Decision) Shares(s *Snapshot, service int) []Share {
	svc := &s.in.Policy.services[service]
	parts := (&sharer{}).parts(d, s, service, nil)
	shares := make([]Share, len(parts))
	for i, p := range parts {
		shares[i] = Share{s.in.Policy.places[svc.members[p.at].place].name, p.share}
	}
	return shares
}

// part is a share of something numbered: a member of a service.
type part struct {
	at    int
	share float64
}

// sharer works out shares. It remembers the laborious ones, so it is for one goroutine.
type sharer struct{ known map[drawing][]part }

// drawing names a draw of several places out of a tier. The lists of a snapshot are never copied, so
// the tier is known by where its first place stands.
type drawing struct {
	svc    *Service
	tier   *placeID
	mode   mode
	family Family
}

// parts appends the shares of a decision, by member.
func (sh *sharer) parts(d *Decision, s *Snapshot, service int, to []part) []part {
	if d.n == 0 {
		return to
	}
	svc := &s.in.Policy.services[service]
	start := len(to)
	w := s.walk(service, d)
	if w.ramps != nil {
		sh = &sharer{} // the candidates of one tier are not the same for all clients
	}
	if svc.drawsNone() {
		for _, i := range d.chosen[:d.n] {
			to = append(to, part{int(i), w.addresses(d, int(i))})
		}
		normalise(to[start:])
		return to
	}
	tier := d.path.at(d.tier)
	total := w.totalWeight(tier, d)
	for i := range w.candidates(tier, d.mode, d.family) {
		if weight := w.weight(i, total); weight > 0 {
			to = append(to, part{i, float64(weight)})
		}
	}
	switch candidates := to[start:]; {
	case len(candidates) <= svc.answer:
		for i := range candidates {
			candidates[i].share = w.addresses(d, candidates[i].at)
		}
	case svc.answer > 1:
		sh.several(drawing{svc, &tier[0], d.mode, d.family}, candidates, func(member int) float64 { return w.addresses(d, member) })
	}
	normalise(to[start:])
	return to
}

// addresses counts what a member would give to the answer.
func (w *walk) addresses(d *Decision, member int) float64 {
	return float64(len(d.mode.addresses(&w.standing[member], d.family)))
}

// normalise makes parts of 1 of amounts. They are summed in their order, so equal amounts give equal parts.
func normalise(parts []part) {
	var sum float64
	for _, p := range parts {
		sum += p.share
	}
	for i := range parts {
		parts[i].share /= sum
	}
}

// several turns the weights of candidates, of which the service answers with more than one and not
// with all, into their shares.
func (sh *sharer) several(key drawing, candidates []part, addresses func(member int) float64) {
	if known, ok := sh.known[key]; ok {
		copy(candidates, known)
		return
	}
	given := make([]float64, len(candidates))
	for i, c := range candidates {
		given[i] = addresses(c.at)
	}
	if len(candidates) <= mostExact {
		exactShares(candidates, given, key.svc.answer)
	} else {
		largeShares(candidates, given, key.svc.answer)
	}
	if sh.known == nil {
		sh.known = map[drawing][]part{}
	}
	sh.known[key] = append([]part(nil), candidates...)
}

// mostExact bounds the candidates whose every possible answer is looked at: there are 2^n.
const mostExact = 12

// exactShares goes through all sets that can be drawn, one place after the other and none twice: to each
// its chance, which its places share by their addresses.
func exactShares(candidates []part, addresses []float64, want int) {
	chance := make([]float64, 1<<len(candidates))
	chance[0] = 1
	shares := make([]float64, len(candidates))
	for set, p := range chance {
		var left, given float64
		for i, c := range candidates {
			if set>>i&1 == 0 {
				left += c.share
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
				chance[set|1<<i] += p * c.share / left
			}
		}
	}
	for i := range candidates {
		candidates[i].share = shares[i]
	}
}

// largeShares is for many candidates, of which any two hardly hinder each other: a place is among the drawn
// as one of independent clocks, each as fast as the place's weight, that has struck by the moment
// at which as many as are wanted can be expected to.
func largeShares(candidates []part, addresses []float64, want int) {
	struck := func(t float64) (sum float64) {
		for _, c := range candidates {
			sum += -math.Expm1(-c.share * t)
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
		candidates[i].share = -math.Expm1(-c.share*high) * addresses[i]
	}
}
