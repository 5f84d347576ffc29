package prefix

import (
	"encoding/binary"
	"math/bits"
)

// kind is that of a packed node which has this shape.
func (s shape) kind() byte {
	switch children := bits.OnesCount64(s.inner); {
	case children == 0:
		return leaf
	case children == 1 && bits.OnesCount64(s.starts) == 1:
		return twig
	}
	return branch
}

// header is the bytes of a packed node before its values.
func (s shape) header() int {
	switch s.kind() {
	case leaf:
		return leafSize
	case twig:
		return twigHeader
	}
	return branchSize + 2*bits.OnesCount64(s.inner)
}

// size is the bytes that pack makes of a node.
func size(s shape, runs []uint32, children []packed) int {
	n := s.header() + s.width(runs)*len(runs)
	for _, c := range children {
		n += len(c)
	}
	return n
}

// pack writes a node with the values of its runs and its children.
func pack(s shape, runs []uint32, children []packed) packed {
	w := s.width(runs)
	p := s.appendTo(make(packed, 0, size(s, runs, children)), byte(w))
	if s.kind() == branch {
		at := s.header() + w*len(runs)
		for _, c := range children {
			p = binary.LittleEndian.AppendUint16(p, uint16(at))
			at += len(c)
		}
	}
	for _, value := range runs {
		p = appendValue(p, w, value)
	}
	for _, c := range children {
		p = append(p, c...)
	}
	return p
}

// appendTo writes the kind of a node with values of a width, and its slots.
func (s shape) appendTo(p packed, width byte) packed {
	kind := s.kind()
	p = append(p, kind|width)
	if kind == twig {
		return append(p, byte(bits.TrailingZeros64(s.inner)))
	}
	p = binary.LittleEndian.AppendUint64(p, s.starts)
	if kind != leaf {
		p = binary.LittleEndian.AppendUint64(p, s.inner)
	}
	return p
}

// width is the bytes that each value of a node takes: as many as the greatest of them needs.
func (s shape) width(values []uint32) int {
	if s.kind() == twig {
		return 4
	}
	var all uint32
	for _, v := range values {
		all |= v
	}
	return max(1, (bits.Len32(all)+7)/8)
}

// appendValue writes a value in so many bytes.
func appendValue(b []byte, width int, value uint32) []byte {
	for range width {
		b = append(b, byte(value))
		value >>= 8
	}
	return b
}

// valueAt is a value out of those that begin at a position, each in so many bytes. There are four bytes or more before it
// with its own, for all four that end where it ends are read, and those that are not its own are shifted out.
func valueAt(b []byte, first, width, i int) uint32 {
	end := first + width*(i+1)
	return binary.LittleEndian.Uint32(b[end-4:end:end]) >> ((32 - 8*width) & 31)
}

// word is the eight bytes at a position. It is cut out with its capacity, here and above, since the compiler then adds
// fewer guards than for an open end.
func word(b []byte, at int) uint64 {
	return binary.LittleEndian.Uint64(b[at : at+8 : at+8])
}
