package steer

import (
	"encoding/binary"
	"math"
	"math/bits"
	"net/netip"
	"slices"
)

// pick takes the places of the answer from the winning tier: all that have a weight, or as many as the
// service answers with, by weight. Never any from the next tier.
func (w *walk) pick(d *Decision, q *Query) {
	tier := w.path.at(d.tier)
	if len(tier) == 1 || w.svc.answer == maxChosen && len(tier) <= maxChosen { // nothing to draw
		w.takeAll(tier, d)
		return
	}
	total := w.totalWeight(tier, d)
	left := total // the weight of those that are not chosen yet
	if total == 0 {
		for range w.candidates(tier, d.mode, d.family) {
			left++ // equals, each of weight 1
		}
	}
	for d.n < w.svc.answer {
		i, ok := w.draw(tier, d, q, total, left)
		if !ok {
			return
		}
		left -= w.weight(i, total)
		d.choose(i)
	}
}

// takeAll takes every place of a tier, but those of weight 0 only when there is no other.
func (w *walk) takeAll(tier []placeID, d *Decision) {
	for _, p := range tier {
		if i, ok := w.candidate(p, d.mode, d.family); ok && w.standing[i].weight > 0 {
			d.choose(i)
		}
	}
	if d.n > 0 {
		return
	}
	for _, p := range tier {
		if i, ok := w.candidate(p, d.mode, d.family); ok {
			d.choose(i)
		}
	}
}

// choose adds a member to the answer, which has room for as many as a service answers with.
func (d *Decision) choose(member int) {
	d.chosen[d.n] = uint32(member)
	d.n++
}

func (d *Decision) chose(member int) bool {
	return slices.Contains(d.chosen[:d.n], uint32(member))
}

// totalWeight sums the weights of a tier's candidates. When all of them have weight 0, which
// means "only when nothing else of the tier serves", they are equals: the total is 0.
func (w *walk) totalWeight(tier []placeID, d *Decision) uint64 {
	var total uint64
	for _, p := range tier {
		if i, ok := w.candidate(p, d.mode, d.family); ok {
			total += w.standing[i].weight
		}
	}
	return total
}

// weight is a member's weight in a draw among candidates of this total.
func (w *walk) weight(member int, total uint64) uint64 {
	if total == 0 {
		return 1
	}
	return w.standing[member].weight
}

// draw takes one more member that is not chosen yet; left is the weight of these.
func (w *walk) draw(tier []placeID, d *Decision, q *Query, total, left uint64) (int, bool) {
	if w.svc.hashes {
		return w.rendezvous(tier, d, q, total)
	}
	if left == 0 {
		return 0, false
	}
	luck, _ := bits.Mul64(mix(q.Seed+uint64(d.n)), left) // uniform in 0..left-1
	for _, p := range tier {
		i, ok := w.candidate(p, d.mode, d.family)
		if !ok || d.n > 0 && d.chose(i) {
			continue
		}
		if weight := w.weight(i, total); luck >= weight {
			luck -= weight
			continue
		}
		return i, true
	}
	return 0, false
}

// rendezvous takes the member whose name and the client's network hash highest, in proportion to
// its weight. When a member comes, goes or changes weight, only the networks that go to or from
// it move. Every server with the same configuration chooses alike.
func (w *walk) rendezvous(tier []placeID, d *Decision, q *Query, total uint64) (best int, found bool) {
	network := networkSeed(q.Client.Address)
	var highest float64
	for _, p := range tier {
		i, ok := w.candidate(p, d.mode, d.family)
		if !ok {
			continue
		}
		weight := w.weight(i, total)
		if weight == 0 || d.chose(i) {
			continue
		}
		h := mix(w.svc.members[i].seed ^ network)
		unit := (float64(h>>11) + 0.5) / (1 << 53) // in (0, 1)
		if score := float64(weight) / -math.Log(unit); score > highest {
			best, highest, found = i, score, true
		}
	}
	return best, found
}

// networkBits is the length of the client networks that a hash keeps together. It is longer where such an IPv6 network
// has IPv4 addresses in it, whose hash is that of their own network.
func networkBits(a netip.Addr) int {
	if a.Is4() {
		return 24
	}
	return max(56, apart(a))
}

func networkSeed(a netip.Addr) uint64 {
	if a.Is4() {
		b := a.As4()
		return uint64(binary.BigEndian.Uint32(b[:]) >> 8)
	}
	b := a.As16()
	return mix(binary.BigEndian.Uint64(b[:8]) >> 8)
}

// mix spreads every bit of a number over all of its bits (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
