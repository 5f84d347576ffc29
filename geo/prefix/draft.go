package prefix

import (
	"math/bits"
	"slices"
)

// draft is a node in the making, slot by slot. Every way to a new node leads through it, so it is the one place that
// keeps the two rules of [Table], and that decides what is packed.
type draft struct {
	inner    uint64
	borrowed uint64        // bit s: the child below slot s is part of something that is packed
	below    [slots]node   // those of slots not in inner mean nothing
	values   [slots]uint32 // those of slots in inner mean nothing
}

// fill gives a value to width slots from slot on. None of them may have a child.
func (d *draft) fill(slot uint, width int, value uint32) {
	for s := range d.values[slot : int(slot)+width] {
		d.values[int(slot)+s] = value
	}
}

// place puts a new node below slot, or its value alone if it has only one.
func (d *draft) place(slot uint, n node) {
	if value, ok := n.plain(); ok {
		d.values[slot] = value
		return
	}
	d.inner |= 1 << slot
	d.below[slot] = n
}

// copy takes over what a node has at slot.
func (d *draft) copy(slot uint, n node) {
	if !n.shape().has(slot) {
		d.values[slot] = n.value(slot)
		return
	}
	d.place(slot, n.under(slot))
	if n.fork == nil {
		d.borrowed |= 1 << slot
	}
}

// node is the finished node.
func (d *draft) node() node {
	var room [slots]uint32
	s, runs := d.shape(room[:0])
	if s == (shape{starts: 1}) {
		return plain(runs[0])
	}
	if children, ok := d.children(); ok && size(s, runs, children) <= packedLimit {
		return node{packed: pack(s, runs, children)}
	}
	return node{fork: d.fork(s)}
}

// shape finds the runs, and appends the value of each.
func (d *draft) shape(runs []uint32) (shape, []uint32) {
	s := shape{inner: d.inner}
	for slot, value := range d.values {
		if s.has(uint(slot)) || len(runs) > 0 && runs[len(runs)-1] == value {
			continue
		}
		s.starts |= 1 << slot
		runs = append(runs, value)
	}
	return s, runs
}

// children gives the children in order, if all of them are packed.
func (d *draft) children() (all []packed, ok bool) {
	if d.inner == 0 {
		return nil, true
	}
	all = make([]packed, 0, bits.OnesCount64(d.inner))
	for left := d.inner; left != 0; left &= left - 1 {
		n := &d.below[bits.TrailingZeros64(left)]
		if n.fork != nil {
			return nil, false
		}
		all = append(all, n.packed)
	}
	return all, true
}

// fork is the node as a fork. Borrowed children are copied, lest it keeps all of what they are part of.
func (d *draft) fork(s shape) *fork {
	f := &fork{shape: s}
	var run node
	for slot := range d.below {
		n := d.below[slot]
		switch {
		case d.borrowed>>slot&1 == 1:
			n.packed = slices.Clone(n.packed)
		case !s.has(uint(slot)):
			if s.starts>>slot&1 == 1 {
				run = plain(d.values[slot])
			}
			n = run
		}
		f.slots[slot] = n
	}
	return f
}
