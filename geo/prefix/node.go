package prefix

import "math/bits"

const (
	stride = 6           // bits of the address that a node decides
	slots  = 1 << stride // their combinations: as many as a word has bits
)

// node is a subtree of a [Table], and the way into it. It is packed, or a fork where that is too big. The zero node has
// value 0 throughout.
type node struct {
	packed packed
	fork   *fork
}

// fork is the first node of a subtree that is not packed. Its subtrees are separate pieces of memory, so that a new
// table can share them: the forks on the path to a change are copied, and one packed subtree below them.
type fork struct {
	shape
	slots [slots]node // below a slot with a value is a plain node
}

// shape says which slots of a node have children, and how the others fall into runs.
type shape struct {
	inner  uint64 // bit s: slot s has a child; otherwise a value
	starts uint64 // bit s: slot s has a value that the last value slot before it has not
}

// has reports whether slot has a child.
func (s shape) has(slot uint) bool {
	return s.inner>>slot&1 == 1
}

// block is the size, as a power of two, of the widest aligned block of slots around slot that holds its value alone.
//
// The block must reach neither the last slot before the run nor the first one after it. Two slots share an aligned block
// of 2^k exactly if they differ in their lowest k bits only; so the highest bit that differs sets the limit. The
// imaginary neighbours of slots 0 and 63 differ from every slot above its six bits, and limit nothing; the highest bit
// stands for the latter, wherever the slot is.
func (s shape) block(slot uint) int {
	edges := s.starts | s.inner | s.inner<<1
	before := uint(bits.Len64(edges&upTo(slot))) - 2
	after := slot + 1 + uint(bits.TrailingZeros64(edges>>1>>(slot%slots)|1<<63))
	return bits.Len32(uint32(min(slot^before, slot^after))) - 1
}

// run is the number of the run that a slot without a child is in: the last that started.
func (s shape) run(slot uint) int {
	return bits.OnesCount64(s.starts&upTo(slot)) - 1
}

// below counts the members of a set of slots that are less than slot.
func below(set uint64, slot uint) int {
	return bits.OnesCount64(set & (1<<slot - 1))
}

// upTo is the set of the slots 0 to slot.
func upTo(slot uint) uint64 {
	return 2<<slot - 1
}

// plain is the node that has value throughout.
func plain(value uint32) node {
	if value == 0 {
		return node{}
	}
	return node{packed: pack(shape{starts: 1}, []uint32{value}, nil)}
}

// plain reports whether the node has one value throughout, and which.
func (n node) plain() (value uint32, ok bool) {
	if n.shape() != (shape{starts: 1}) {
		return 0, false
	}
	return n.value(0), true
}

func (n node) shape() shape {
	switch {
	case n.fork != nil:
		return n.fork.shape
	case n.packed == nil:
		return shape{starts: 1}
	}
	return n.packed.shape(0)
}

// value is the value of a slot without a child.
func (n node) value(slot uint) uint32 {
	switch {
	case n.fork != nil:
		return n.fork.slots[slot].value(0)
	case n.packed == nil:
		return 0
	}
	return n.packed.value(slot)
}

// values are those of all slots. Those of slots with children mean nothing.
func (n node) values() (all [slots]uint32) {
	starts := n.shape().starts
	var value uint32
	for slot := range uint(slots) {
		if starts>>slot&1 == 1 {
			value = n.value(slot)
		}
		all[slot] = value
	}
	return all
}

// under is the node below slot; where slot has a value, one that has it throughout.
func (n node) under(slot uint) node {
	switch {
	case n.fork != nil:
		return n.fork.slots[slot]
	case !n.shape().has(slot):
		return plain(n.value(slot))
	}
	return node{packed: n.packed.under(slot)}
}
