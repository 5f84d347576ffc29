package prefix

import (
	"iter"
	"math/bits"
	"net/netip"
)

// Table maps every IPv4 and every IPv6 address to a value. It never changes once it is made; the zero Table gives
// value 0 to every address.
//
// Inside is a tree for each family. A node decides [stride] bits of the address: it has 64 slots, and a slot is either a
// child node or a value. Two rules make the tree canonical, the same for the same mapping however it was made:
//
//  1. neighbouring slots with one value are a run, which is stored once;
//  2. a node with one value in all its slots does not exist: its parent's slot has that value.
//
// From rule 2 follows the span. Two sibling blocks with one value never meet above a node, so the widest block around
// an address lies within the node where its look-up ends, and two bit scans find it there. Nothing is stored for it.
//
// The children of a node lie side by side, so a level of the tree costs one memory access. Slices are never written
// after construction: a table that differs in one prefix may share everything but the nodes on the path to it.
type Table struct {
	ipv4, ipv6 node
}

const (
	stride = 6           // bits of the address that a node decides
	slots  = 1 << stride // their combinations: as many as a word has bits
)

// node is one step of a look-up. The zero node has value 0 in every slot.
type node struct {
	inner    uint64   // bit s: slot s has a child; otherwise a value
	starts   uint64   // bit s: slot s has a value that the last value slot before it has not
	children []node   // one for each bit of inner, in order
	values   []uint32 // one for each bit of starts, in order
}

// Lookup returns the value of address a, and the length of the shortest prefix around a in which every address has
// that value: 0 to 32 for IPv4, 0 to 128 for IPv6. It does not allocate.
func (t *Table) Lookup(a netip.Addr) (value uint32, span int) {
	n := &t.ipv6
	if a.Is4() {
		n = &t.ipv4
	}
	k := keyOf(a)
	for depth := 0; ; depth += stride {
		slot := k.slot()
		if n.inner>>slot&1 == 0 {
			return n.value(slot), depth + stride - n.block(slot)
		}
		n = &n.children[below(n.inner, slot)]
		k = k.rest()
	}
}

// value is the value of a slot without a child: that of the last run which started.
func (n *node) value(slot uint) uint32 {
	if n.starts == 0 {
		return 0
	}
	return n.values[below(n.starts, slot+1)-1]
}

// block is the size, as a power of two, of the widest aligned block of slots around slot that holds its value alone.
//
// The block must reach neither the last slot before the run nor the first one after it. Two slots share an aligned block
// of 2^k exactly if they differ in their lowest k bits only; so the highest bit that differs sets the limit. The
// imaginary neighbours of slots 0 and 63 differ from every slot above its six bits, and limit nothing.
func (n *node) block(slot uint) int {
	edges := n.starts | n.inner | n.inner<<1
	before := uint(bits.Len64(edges&upTo(slot))) - 2
	after := slot + 1 + uint(bits.TrailingZeros64(edges>>(slot+1)))
	return min(bits.Len(slot^before)-1, bits.Len(slot^after)-1, stride)
}

// below counts the members of a set of slots that are less than slot.
func below(set uint64, slot uint) int {
	return bits.OnesCount64(set & (1<<slot - 1))
}

// upTo is the set of the slots 0 to slot.
func upTo(slot uint) uint64 {
	return 2<<slot - 1
}

// All yields the canonical partition: disjoint prefixes in address order, IPv4 first, that together hold every address
// of both families, those with value 0 included. No two of them could be written as one.
func (t *Table) All() iter.Seq2[netip.Prefix, uint32] {
	return func(yield func(netip.Prefix, uint32) bool) {
		_ = t.ipv4.walk(key{}, 0, key.prefix4, yield) && t.ipv6.walk(key{}, 0, key.prefix6, yield)
	}
}

// walk yields the blocks of the node whose slot 0 begins at address k, and reports whether the reader wants more.
func (n *node) walk(k key, depth int, prefix func(key, int) netip.Prefix, yield func(netip.Prefix, uint32) bool) bool {
	for slot := uint(0); slot < slots; {
		at := k.with(depth, slot)
		if n.inner>>slot&1 == 1 {
			if !n.children[below(n.inner, slot)].walk(at, depth+stride, prefix, yield) {
				return false
			}
			slot++
			continue
		}
		size := n.block(slot)
		if !yield(prefix(at, depth+stride-size), n.value(slot)) {
			return false
		}
		slot += 1 << size
	}
	return true
}
