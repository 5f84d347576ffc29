package zone

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Index tells where in a list a name stands. It is immutable, and the zero value finds nothing.
//
// It is a hash table with open addressing: half of its slots are free, so that a name is found in the first or
// the next slot, and one that is not there meets an empty slot as soon. Nobody but the operator puts names into it, so
// the hash has no secret: a client can ask for names that fall into one slot, but not make a slot full.
type Index struct {
	names []Name
	slots []slot // 1<<n of them
	shift uint8  // of a hash, to the number of its slot
	depth int    // labels of the deepest name
}

// slot is a part of a name's hash, and where the name stands, counted from 1. The zero value is free.
type slot struct{ tag, at uint32 }

// NewIndex makes the index of a list of names, and keeps the list. Of equal names it finds the first.
func NewIndex(names []Name) Index {
	size := 2
	for size < 2*len(names) {
		size *= 2
	}
	x := Index{names: names, slots: make([]slot, size), shift: uint8(64 - bits.TrailingZeros(uint(size)))}
	for i, n := range names {
		h := hash(n)
		at := h >> x.shift
		for x.slots[at].at > 0 {
			at = (at + 1) & uint64(size-1)
		}
		x.slots[at] = slot{uint32(h), uint32(i + 1)}
		x.depth = max(x.depth, n.Labels())
	}
	return x
}

// Find gives the place of a name in the list, and whether it is there.
func (x *Index) Find(n Name) (int, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	h := hash(n)
	for at := h >> x.shift; ; at++ {
		s := x.slots[at&uint64(len(x.slots)-1)]
		switch {
		case s.at == 0:
			return 0, false
		case s.tag == uint32(h) && x.names[s.at-1] == n:
			return int(s.at - 1), true
		}
	}
}

// Closest gives the place of the name itself, or else of the longest name in the list that it is below.
func (x *Index) Closest(n Name) (int, bool) {
	for range n.Labels() - x.depth {
		n = n.Parent()
	}
	for {
		if at, ok := x.Find(n); ok {
			return at, true
		}
		if n == Root {
			return 0, false
		}
		n = n.Parent()
	}
}

// hash mixes the octets of a name, eight at a time; the last eight overlap those before. Its highest bits are as good
// as its lowest.
func hash(n Name) uint64 {
	const odd, other = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	b := unsafe.Slice(unsafe.StringData(string(n)), len(n))
	h := uint64(len(b)) * other
	if len(b) < 8 {
		var short [8]byte
		copy(short[:], b)
		return mix(h^binary.LittleEndian.Uint64(short[:]), odd)
	}
	for ; len(b) > 16; b = b[8:] {
		h = mix(h^binary.LittleEndian.Uint64(b), odd)
	}
	h = mix(h^binary.LittleEndian.Uint64(b), odd)
	return mix(h^binary.LittleEndian.Uint64(b[len(b)-8:]), other)
}

// mix multiplies, and folds the upper half of the product onto the lower.
func mix(a, b uint64) uint64 {
	upper, lower := bits.Mul64(a, b)
	return upper ^ lower
}
