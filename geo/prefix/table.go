package prefix

import (
	"iter"
	"math/bits"
	"net/netip"
)

// Table maps every IPv4 and every IPv6 address to a value. It never changes once it is made; the zero Table gives
// value 0 to every address.
//
// Inside is a tree for each family, and a [face] for quick look-ups in the tree of IPv4. A node decides [stride] bits of the address: it has 64 slots, and a slot is either a
// child node or a value. Two rules make the tree canonical, the same for the same mapping however it was made:
//
//  1. neighbouring slots with one value are a run, which is stored once;
//  2. a node with one value in all its slots does not exist: its parent's slot has that value.
//
// From rule 2 follows the span. Two sibling blocks with one value never meet above a node, so the widest block around
// an address lies within the node where its look-up ends, and two bit scans find it there. Nothing is stored for it.
//
// In memory a subtree is one piece, packed, if it takes no more than [packedLimit] bytes; the few nodes above such
// pieces are forks. Neither is written after construction: a table that differs in one prefix shares everything with
// this one but the forks on the path to it, one packed piece, and one block of the face.
type Table struct {
	ipv4, ipv6 node
	face       *face // of ipv4
}

func newTable(ipv4, ipv6 node) *Table {
	return &Table{ipv4, ipv6, newFace(ipv4)}
}

// Lookup returns the value of address a, and the length of the shortest prefix around a in which every address has
// that value: 0 to 32 for IPv4, 0 to 128 for IPv6. It does not allocate.
func (t *Table) Lookup(a netip.Addr) (value uint32, span int) {
	if !a.Is4() {
		return t.ipv6.lookup(key6(a))
	}
	k := key4(a)
	if value, span = t.face.lookup(uint32(k.high >> 32)); span != 0 {
		return value, span
	}
	return t.ipv4.lookup(k)
}

// lookup follows k through the forks, and then through what is packed.
func (n *node) lookup(k key) (value uint32, span int) {
	depth := stride
	for n.fork != nil {
		f, slot := n.fork, k.slot()
		n = &f.slots[slot]
		if !f.has(slot) {
			return n.value(0), depth - f.block(slot)
		}
		k, depth = k.rest(), depth+stride
	}
	if n.packed == nil {
		return 0, 0
	}
	value, size, down := n.packed.lookup(k)
	return value, depth + down - size
}

// Nodes is the number of nodes in the trees: how large the table is, whatever its values take.
func (t *Table) Nodes() int { return t.ipv4.count() + t.ipv6.count() }

// count is the number of a node and all below it.
func (n node) count() int {
	all := 1
	for left := n.shape().inner; left != 0; left &= left - 1 {
		all += n.under(uint(bits.TrailingZeros64(left))).count()
	}
	return all
}

// All yields the canonical partition: disjoint prefixes in address order, IPv4 first, that together hold every address
// of both families, those with value 0 included. No two of them could be written as one.
func (t *Table) All() iter.Seq2[netip.Prefix, uint32] {
	return func(yield func(netip.Prefix, uint32) bool) {
		_ = t.ipv4.walk(key{}, 0, key.prefix4, yield) && t.ipv6.walk(key{}, 0, key.prefix6, yield)
	}
}

// walk yields the blocks of the node whose slot 0 begins at address k, and reports whether the reader wants more.
func (n node) walk(k key, depth int, prefix func(key, int) netip.Prefix, yield func(netip.Prefix, uint32) bool) bool {
	s := n.shape()
	for slot := uint(0); slot < slots; {
		at := k.with(depth, slot)
		if s.has(slot) {
			if !n.under(slot).walk(at, depth+stride, prefix, yield) {
				return false
			}
			slot++
			continue
		}
		size := s.block(slot)
		if !yield(prefix(at, depth+stride-size), n.value(slot)) {
			return false
		}
		slot += 1 << size
	}
	return true
}
