package prefix

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// face is what a look-up of an IPv4 address reads first, in a table that has networks of about /24 side by side: leaves
// of the tree once more, where they are found in two steps. What a face does not have, the tree has.
//
// Its blocks are the 1024 of /10. One with few leaves is empty, any other one piece of memory:
//
//	2 bytes for each /16 of the block  where its group begins
//	the groups
//
// A group is what is known of a /16; all without a leaf share the first:
//
//	8 bytes for each /18 of the /16    starts of the leaf that decides it; 0 without one
//	1 byte for each /18                how many runs of the group come before those of its leaf
//	1 byte for each run                its value
//
// So the positions of all groups take 128 KB, which the nearer caches hold, and most of a group is one line of theirs
// or two side by side. A leaf with a value that takes more than a byte is not there. A change makes the block anew that
// it is in.
//
// What waits for memory here are the leaves. So that the processor can begin with the next address meanwhile, which
// takes as many instructions as it can look ahead, a look-up has few.
type face [1 << blockBits][]byte

const (
	blockBits = 10
	groupBits = 16
	leafBits  = 18

	groups  = 1 << (groupBits - blockBits) // in a block
	leaves  = 1 << (leafBits - groupBits)  // in a group
	countAt = 8 * leaves                   // in a group
	runsAt  = countAt + leaves

	// fewestLeaves is how many a block has that is not empty: with fewer, its groups would be larger than nodes are.
	fewestLeaves = groups * leaves / 2
)

// lookup gives the value and the span of an address; span 0 if the face does not know the leaf in which they are.
func (f *face) lookup(a uint32) (value uint32, span int) {
	if f == nil {
		return 0, 0
	}
	b := f[a>>(32-blockBits)]
	if b == nil {
		return 0, 0
	}
	i := int(a >> (32 - groupBits) % groups)
	at := int(binary.LittleEndian.Uint16(b[2*i : 2*i+2 : 2*i+2]))
	i = int(a >> (32 - leafBits) % leaves)
	s := shape{starts: word(b, at+8*i)}
	if s.starts == 0 {
		return 0, 0
	}
	slot := uint(a >> (32 - leafBits - stride) % slots)
	at += runsAt + int(b[at+countAt+i])
	return uint32(b[at+s.run(slot)]), leafBits + stride - s.block(slot)
}

// newFace is the face of a tree; nil if it is empty.
func newFace(root node) *face {
	return (*face)(nil).after(root, 0, 1<<blockBits-1)
}

// after is the face of a tree that is another one only in the blocks from first to last.
func (f *face) after(root node, first, last int) *face {
	if root.fork == nil && len(root.packed) < fewestLeaves*leafSize {
		return nil
	}
	var next face
	if f != nil {
		next = *f
	}
	for i := first; i <= last; i++ {
		next[i] = faceBlock(root, uint64(i))
	}
	for i := range next {
		if next[i] != nil {
			return &next
		}
	}
	return nil
}

// faceBlock is the block with a number.
func faceBlock(root node, number uint64) []byte {
	var all [groups * leaves]packed
	found, size := 0, 2*groups+countAt
	for i := 0; i < len(all); i += slots {
		n := root.at(key{high: (number*uint64(len(all)) + uint64(i)) << (64 - leafBits)}, leafBits-stride)
		found += n.leaves(all[i:])
	}
	for g := range groups {
		size += groupSize(all[g*leaves:][:leaves])
	}
	if found < fewestLeaves || size > math.MaxUint16 {
		return nil
	}
	b := make([]byte, 2*groups+countAt, size)
	for g := range groups {
		at := len(b)
		if b = appendGroup(b, all[g*leaves:][:leaves]); len(b) == at {
			at = 2 * groups
		}
		binary.LittleEndian.PutUint16(b[2*g:], uint16(at))
	}
	return b
}

// groupSize is the bytes of a group of leaves; 0 of none.
func groupSize(all []packed) int {
	runs := 0
	for _, p := range all {
		if p != nil {
			runs += bits.OnesCount64(p.shape(0).starts)
		}
	}
	if runs == 0 {
		return 0
	}
	return runsAt + runs
}

// appendGroup writes a group of leaves, if there are any.
func appendGroup(b []byte, all []packed) []byte {
	if groupSize(all) == 0 {
		return b
	}
	at := len(b)
	b = b[:at+runsAt]
	for i, p := range all {
		b[at+countAt+i] = byte(len(b) - at - runsAt)
		if p != nil {
			binary.LittleEndian.PutUint64(b[at+8*i:], p.shape(0).starts)
			b = append(b, p[leafSize:]...)
		}
	}
	return b
}

// at is the node at a depth on the way to k; the zero node if there is none.
func (n node) at(k key, depth int) node {
	for ; depth > 0; depth -= stride {
		slot := k.slot()
		if !n.shape().has(slot) {
			return node{}
		}
		n, k = n.under(slot), k.rest()
	}
	return n
}

// leaves writes those children of a node that have none themselves, and values of one byte, to the places of their
// slots, and counts them.
func (n node) leaves(to []packed) int {
	found := 0
	for left := n.shape().inner; left != 0; left &= left - 1 {
		slot := uint(bits.TrailingZeros64(left))
		if c := n.under(slot); c.fork == nil && c.packed[0] == leaf|1 {
			to[slot] = c.packed
			found++
		}
	}
	return found
}
