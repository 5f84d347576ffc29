package steer

import (
	"iter"
	"net/netip"
)

// partition cuts the address space into blocks in which every client has the same list. It is
// canonical: no two neighbouring halves of a block have equal lists, so the block around a client
// is the exact scope of what depends on the list.
type partition struct {
	blocks blocks
	all    []list    // by number
	whole  [2]uint32 // by family: the number that all its addresses have, or several
}

// blocks gives the number of the list that an address has, and the bits of the widest block around it
// with that number.
type blocks interface {
	Lookup(netip.Addr) (number uint32, span int)
}

// several is no number of a list.
const several = ^uint32(0)

func newPartition(b blocks, all []list) partition {
	p := partition{blocks: b, all: all}
	for f, first := range [...]netip.Addr{IPv4: netip.IPv4Unspecified(), IPv6: netip.IPv6Unspecified()} {
		n, span := b.Lookup(first)
		if span > 0 {
			n = several
		}
		p.whole[f] = n
	}
	return p
}

// at gives the list of a client, and the bits of the widest block around it with that list. 0 bits
// are all addresses of both families: a scope of 0 is taken for all networks (RFC 7871 section
// 7.3.1). An IPv6 block counts the IPv4 addresses inside it (see [embedded]).
func (p *partition) at(client netip.Addr) (l list, span int) {
	n, span := p.blocks.Lookup(client)
	switch {
	case client.Is6():
		if p.whole[IPv4] != n {
			span = max(span, apart(client))
		}
	case span == 0 && p.whole[IPv6] != n:
		span = 1
	}
	return p.all[n], span
}

// nest gives every prefix with the value it has inside the prefixes around it. The prefixes come
// in address order, each before those inside it.
func nest[T any](own iter.Seq2[netip.Prefix, T], inside func(outer, inner T) T) iter.Seq2[netip.Prefix, T] {
	type level struct {
		prefix netip.Prefix
		value  T
	}
	return func(yield func(netip.Prefix, T) bool) {
		var around []level
		for p, v := range own {
			for len(around) > 0 && !around[len(around)-1].prefix.Overlaps(p) {
				around = around[:len(around)-1]
			}
			if len(around) > 0 {
				v = inside(around[len(around)-1].value, v)
			}
			around = append(around, level{p, v})
			if !yield(p, v) {
				return
			}
		}
	}
}
