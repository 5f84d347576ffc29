package prefix

import (
	"encoding/binary"
	"math/bits"
)

// packed is a node and all below it in one piece of memory, without pointers. It is written once, so that what a
// look-up reads lies close together, and all of it is small enough for the caches: most nodes take 4 to 30 bytes. It is
//
//	1 byte              width: the bytes that a value takes, 1 to 4; and the kind of the node
//	                    what the kind needs to find children and runs
//	width for each run  its value
//	                    the children, in order
//
// of one of three kinds:
//
//	leaf     8 bytes  shape.starts; there are no children
//	twig     1 byte   the slot of its only child, around which all is one run; its value takes 4 bytes
//	branch   8 bytes  shape.starts
//	         8 bytes  shape.inner
//	         2 bytes  for each child, where it begins, counted from the node
//
// A twig is what leads to a network far from others.
//
// Numbers are little-endian. As positions are relative, a packed node can be moved: it is put below another one by
// copying it, and the part of it from a child on is that child, with its younger siblings behind it.
type packed []byte

const (
	leaf = iota << 3
	twig
	branch

	widthMask = 7
	kindMask  = 3 << 3

	// packedLimit is the most bytes that are packed together. A change copies as much.
	packedLimit = 1 << 14
	_           = uint16(packedLimit - 1) // what a child's position must fit into
)

// Where things are in a node, and the bytes that come before the values, or before the positions.
const (
	slotAt   = 1
	startsAt = 1
	innerAt  = 9

	twigHeader = 2
	twigSize   = 6 // with the value
	leafSize   = 9
	branchSize = 17
)

// lookup follows k to a value. The node where it is found lies depth bits below this one, and size is that of the
// block of slots around it, as [shape.block] has it.
func (p packed) lookup(k key) (value uint32, size, depth int) {
	for at := 0; ; depth += stride {
		slot := k.slot()
		switch p[at] & kindMask {
		case leaf:
			s := shape{starts: word(p, at+startsAt)}
			return p.run(at, leafSize, s.run(slot)), s.block(slot), depth
		case twig:
			child := uint(p[at+slotAt])
			if slot != child {
				return valueAt(p, at+twigHeader, 4, 0), bits.Len64(uint64(slot^child)) - 1, depth
			}
			at += twigSize
		default:
			s := shape{starts: word(p, at+startsAt), inner: word(p, at+innerAt)}
			if !s.has(slot) {
				return p.run(at, branchSize+2*bits.OnesCount64(s.inner), s.run(slot)), s.block(slot), depth
			}
			at += p.position(at, below(s.inner, slot))
		}
		k = k.rest()
	}
}

// width is the bytes of each value of the node at a position.
func (p packed) width(at int) int {
	return int(p[at] & widthMask)
}

// position is where a child of a branch begins, counted from there.
func (p packed) position(at, i int) int {
	at += branchSize + 2*i
	return int(binary.LittleEndian.Uint16(p[at : at+2 : at+2]))
}

// shape is the shape of the node at a position.
func (p packed) shape(at int) shape {
	switch p[at] & kindMask {
	case leaf:
		return shape{starts: word(p, at+startsAt)}
	case twig:
		inner := uint64(1) << (p[at+slotAt] & (slots - 1))
		return shape{inner: inner, starts: 1 + inner&1}
	}
	return shape{starts: word(p, at+startsAt), inner: word(p, at+innerAt)}
}

// value is the value of a slot without a child.
func (p packed) value(slot uint) uint32 {
	s := p.shape(0)
	return p.run(0, s.header(), s.run(slot))
}

// run is the value of a run of the node at a position, whose values come behind the header.
func (p packed) run(at, header, i int) uint32 {
	return valueAt(p, at+header, p.width(at), i)
}

// under is the child at a slot that has one.
func (p packed) under(slot uint) packed {
	s := p.shape(0)
	if s.kind() == twig {
		return p[twigSize:]
	}
	i, end := below(s.inner, slot), len(p)
	if i+1 < bits.OnesCount64(s.inner) {
		end = p.position(0, i+1)
	}
	return p[p.position(0, i):end]
}
