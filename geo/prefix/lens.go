package prefix

import (
	"math/bits"
	"net/netip"
)

// Lens is a table whose values have become others by a function. It answers as the table that [Table.Map] makes, but is not
// a table of its own: it keeps a number for each value and each kind of node of its [Ground], however large that is.
// It never changes.
type Lens struct {
	ground *Ground
	values []uint32 // by value of the ground
	kinds  []uint32 // by kind of the ground: the value of all that lies there, or mixed
}

// mixed is no value: it stands for several.
const mixed = ^uint32(0)

// NewLens looks at a ground through f, which is called once for each number below the ground's width, in order. What f
// gives is less than 2^32-1.
func NewLens(g *Ground, f func(uint32) uint32) *Lens {
	l := &Lens{ground: g, values: make([]uint32, g.width), kinds: make([]uint32, len(g.kinds.ends)-1)}
	for v := range l.values {
		l.values[v] = f(uint32(v))
	}
	for k := range l.kinds {
		l.kinds[k] = l.common(g.kinds.of(uint32(k)))
	}
	return l
}

// common is the value that all members of a kind have, or mixed.
func (l *Lens) common(members []uint32) uint32 {
	first := l.member(members[0])
	for _, m := range members[1:] {
		if l.member(m) != first {
			return mixed
		}
	}
	return first
}

func (l *Lens) member(m uint32) uint32 {
	if m&isKind != 0 {
		return l.kinds[m&^isKind]
	}
	return l.values[m]
}

// Value is what the lens makes of a value of its ground.
func (l *Lens) Value(v uint32) uint32 { return l.values[v] }

// Lookup returns the value of address a, and the length of the shortest prefix around a in which every address has that
// value, as [Table.Lookup] does. It does not allocate.
func (l *Lens) Lookup(a netip.Addr) (value uint32, span int) {
	p := &l.ground.plots[1]
	if a.Is4() {
		p = &l.ground.plots[0]
	}
	k := keyOf(a)
	for depth := 0; ; depth += stride {
		slot := k.slot()
		if value := l.at(p, slot); value != mixed {
			return value, depth + stride - l.block(p, slot, value)
		}
		p = l.ground.child(p, slot)
		k = k.rest()
	}
}

// at is the value of all that lies in a slot, or mixed.
func (l *Lens) at(p *plot, slot uint) uint32 {
	if p.has(slot) {
		return l.kinds[l.ground.child(p, slot).kind]
	}
	return l.values[l.ground.value(p, slot)]
}

// block is the size, as a power of two, of the widest aligned block of slots around slot that holds its value alone: it
// grows while the half beside it has the value, too.
func (l *Lens) block(p *plot, slot uint, value uint32) int {
	edges := p.starts | p.inner | p.inner<<1
	for size := range stride {
		beside := (slot>>size ^ 1) << size
		if l.at(p, beside) != value {
			return size
		}
		within := edges & upTo(beside+1<<size-1) &^ upTo(beside)
		for ; within != 0; within &= within - 1 {
			if l.at(p, uint(bits.TrailingZeros64(within))) != value {
				return size
			}
		}
	}
	return stride
}
