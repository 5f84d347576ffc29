package traffic

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"

	"gslb/dns/steer"
	"gslb/geo/prefix"
)

// Sample gives about n clients that stand for the address space that two snapshots know: what their geo
// maps cover and their configurations name. Each weighs as much of it as it stands for.
//
// The space is cut into n equal slices, and a client drawn from each. Networks that a configuration
// names are sampled by themselves, at least one client from each, so that the smallest is not missed, as
// long as n is twice their number. The whole weighs 1. Where both families are known, the IPv4
// addresses together weigh half and the IPv6 addresses half: by number IPv4 would not count at all.
//
// Equal snapshots and n give equal clients.
func Sample(before, after *steer.Snapshot, n int) []Crowd {
	named, covered := knownBlocks(before, after)
	luck := rand.New(rand.NewPCG(1, 2))
	var all []Crowd
	for f := range named {
		all = append(all, sampleFamily(luck, named[f], covered[f], n/shared(named, covered))...)
	}
	var sum float64
	for _, c := range all {
		sum += c.Weight
	}
	for i := range all {
		all[i].Weight /= sum
	}
	return all
}

// shared tells how many families have any blocks: 1 or 2.
func shared(named, covered [2][]netip.Prefix) int {
	n := 0
	for f := range named {
		if len(named[f])+len(covered[f]) > 0 {
			n++
		}
	}
	return n
}

// knownBlocks cuts what two snapshots know into disjoint blocks: those of the networks that the
// configurations name, and what else is on the geo maps. When nothing at all is known, it is all of IPv4.
func knownBlocks(before, after *steer.Snapshot) (named, covered [2][]netip.Prefix) {
	var b prefix.Builder
	networks := slices.Concat(before.Policy().Networks(), after.Policy().Networks())
	slices.SortFunc(networks, netip.Prefix.Compare)
	networks = slices.Compact(networks)
	for i, p := range networks {
		b.Set(p, uint32(i)+2) // each its own number, so that neighbours stay apart
	}
	known := prefix.Overlay(before.Geo().Table(), after.Geo().Table(), func(x, y uint32) uint32 { return min(1, x|y) })
	known = prefix.Overlay(known, b.Table(), func(x, y uint32) uint32 { return max(x, y) })
	for p, number := range known.All() {
		f := steer.IPv4
		if p.Addr().Is6() {
			f = steer.IPv6
		}
		switch {
		case number == 1:
			covered[f] = append(covered[f], p)
		case number > 1:
			named[f] = append(named[f], p)
		}
	}
	if shared(named, covered) == 0 {
		covered[steer.IPv4] = []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}
	}
	return named, covered
}

// sampleFamily samples the blocks of one family, the whole of which weighs 1.
func sampleFamily(luck *rand.Rand, named, covered []netip.Prefix, n int) []Crowd {
	if 2*len(named) > n { // too many for one each
		named, covered = nil, slices.Concat(named, covered)
		slices.SortFunc(covered, netip.Prefix.Compare)
	}
	whole := size(named) + size(covered)
	slice := whole / float64(max(n, 1))
	var all []Crowd
	for _, p := range named {
		draws := max(1, int(share(p)/slice))
		for i := range draws {
			x := (float64(i) + luck.Float64()) / float64(draws)
			all = append(all, Crowd{inside(p, x, luck.Uint64()), share(p) / whole / float64(draws)})
		}
	}
	return append(all, drawSlices(luck, covered, slice, whole)...)
}

// drawSlices draws one client from each slice of the blocks, which lie one behind the other.
func drawSlices(luck *rand.Rand, blocks []netip.Prefix, slice, whole float64) []Crowd {
	space := size(blocks)
	if space == 0 {
		return nil
	}
	count := max(1, int(math.Round(space/slice)))
	slice = space / float64(count)
	var all []Crowd
	next, begin := 0, 0.0
	at := slice * luck.Float64()
	for _, p := range blocks {
		end := begin + share(p)
		for ; at < end && next < count; at = slice * (float64(next) + luck.Float64()) {
			all = append(all, Crowd{inside(p, (at-begin)/share(p), luck.Uint64()), slice / whole})
			next++
		}
		begin = end
	}
	return all
}

// share is the part of its family's space that a block has.
func share(p netip.Prefix) float64 { return math.Ldexp(1, -p.Bits()) }

func size(blocks []netip.Prefix) float64 {
	var sum float64
	for _, p := range blocks {
		sum += share(p)
	}
	return sum
}

// inside gives the address that lies at a part x of 1 of the way through a block, with fine for the bits
// that x is too coarse for.
func inside(p netip.Prefix, x float64, fine uint64) netip.Addr {
	high := uint64(min(x, 1-1.0/(1<<53)) * (1 << 32) * (1 << 32))
	high ^= fine & (1<<11 - 1)
	bits := uint(p.Bits())
	if p.Addr().Is4() {
		b := p.Addr().As4()
		if bits < 32 {
			binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])|uint32(high>>32>>bits))
		}
		return netip.AddrFrom4(b)
	}
	b := p.Addr().As16()
	first, second := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	first |= high >> bits
	switch {
	case bits < 64:
		second |= high<<(64-bits) | fine>>bits
	default:
		second |= high >> (bits - 64)
	}
	binary.BigEndian.PutUint64(b[:8], first)
	binary.BigEndian.PutUint64(b[8:], second)
	return netip.AddrFrom16(b)
}
