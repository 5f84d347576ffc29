package prefix

import (
	"encoding/binary"
	"math/bits"
)

// packed is a node and all below it in one piece of memory, without pointers. It is written once, so that what a
// look-up reads lies close together, and all of it is small enough for the caches: most nodes take 10 to 30 bytes.
//
//	1 byte                  width: the bytes that a value takes, 1 to 4; and whether there are children
//	8 bytes                 shape.starts
//	8 bytes                 shape.inner, if there are children
//	2 bytes for each child  where it begins, counted from here
//	width for each run      its value
//	                        the children, in order
//
// Numbers are little-endian. As positions are relative, a packed node can be moved: it is put below another one by
// copying it, and the part of it from a child on is that child, with its younger siblings behind it.
type packed []byte

const (
	startsAt   = 1
	innerAt    = 9
	leafSize   = 9 // of the header of a node without children, and of one with them
	branchSize = 17

	widthMask = 7
	branching = 8

	// packedLimit is the most bytes that are packed together. A change copies as much.
	packedLimit = 1 << 14
	_           = uint16(packedLimit - 1) // what a child's position must fit into
)

// lookup follows k to a value. The node where it is found lies depth bits below this one, and size is that of the
// block of slots around it, as [shape.block] has it.
func (p packed) lookup(k key) (value uint32, size, depth int) {
	at := 0 // where the node begins
	for ; p.branches(at); depth += stride {
		s, slot := p.shape(at), k.slot()
		if !s.has(slot) {
			return p.value(at, s, slot), s.block(slot), depth
		}
		at += p.child(at, below(s.inner, slot))
		k = k.rest()
	}
	s, slot := shape{starts: p.word(at + startsAt)}, k.slot()
	return p.run(at, leafSize, s, slot), s.block(slot), depth
}

// branches reports whether the node at a position has children.
func (p packed) branches(at int) bool {
	return p[at]&branching != 0
}

// shape is the shape of the node at a position.
func (p packed) shape(at int) shape {
	s := shape{starts: p.word(at + startsAt)}
	if p.branches(at) {
		s.inner = p.word(at + innerAt)
	}
	return s
}

// value is the value of a slot without a child: that of the last run which started.
func (p packed) value(at int, s shape, slot uint) uint32 {
	header := leafSize
	if s.inner != 0 {
		header = branchSize + 2*bits.OnesCount64(s.inner)
	}
	return p.run(at, header, s, slot)
}

// run is the value of the run that slot is in. The values begin behind the header. All four bytes that end where the
// value ends are read, which never reach back behind the header, and those that are not the value's are shifted out.
func (p packed) run(at, header int, s shape, slot uint) uint32 {
	width := int(p[at] & widthMask)
	begin := at + header - 4 + width*bits.OnesCount64(s.starts&upTo(slot))
	return binary.LittleEndian.Uint32(p[begin:begin+4:begin+4]) >> ((32 - 8*width) & 31)
}

// child is where a child of the node begins, counted from the node.
func (p packed) child(at, child int) int {
	at += branchSize + 2*child
	return int(binary.LittleEndian.Uint16(p[at : at+2 : at+2]))
}

// word is the eight bytes at a position. It is cut out with its capacity, here and above, since the compiler then adds
// fewer guards than for an open end.
func (p packed) word(at int) uint64 {
	return binary.LittleEndian.Uint64(p[at : at+8 : at+8])
}

// under is the child at a slot that has one.
func (p packed) under(slot uint) packed {
	inner := p.word(innerAt)
	i, end := below(inner, slot), len(p)
	if i+1 < bits.OnesCount64(inner) {
		end = p.child(0, i+1)
	}
	return p[p.child(0, i):end]
}

// size is the bytes that pack makes of a node.
func size(s shape, runs []uint32, children []packed) int {
	n := leafSize + width(runs)*len(runs)
	if s.inner != 0 {
		n += branchSize - leafSize
	}
	for _, c := range children {
		n += 2 + len(c)
	}
	return n
}

// pack writes a node with the values of its runs and its children.
func pack(s shape, runs []uint32, children []packed) packed {
	p := make(packed, 0, size(s, runs, children))
	w := width(runs)
	p = append(p, byte(w))
	p = binary.LittleEndian.AppendUint64(p, s.starts)
	if s.inner != 0 {
		p[0] |= branching
		p = binary.LittleEndian.AppendUint64(p, s.inner)
	}
	at := len(p) + 2*len(children) + w*len(runs)
	for _, c := range children {
		p = binary.LittleEndian.AppendUint16(p, uint16(at))
		at += len(c)
	}
	for _, value := range runs {
		for range w {
			p = append(p, byte(value))
			value >>= 8
		}
	}
	for _, c := range children {
		p = append(p, c...)
	}
	return p
}

// width is the bytes that the greatest of the values needs.
func width(values []uint32) int {
	var all uint32
	for _, v := range values {
		all |= v
	}
	return max(1, (bits.Len32(all)+7)/8)
}
