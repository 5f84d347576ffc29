package prefix

import "slices"

// draft is a node in the making, slot by slot. Every way to a new node leads through it, so it is the one place that
// keeps the two rules of [Table].
type draft struct {
	inner    uint64
	children []node
	values   [slots]uint32 // those of slots in inner mean nothing
}

// fill gives a value to width slots from slot on. None of them may have a child.
func (d *draft) fill(slot uint, width int, value uint32) {
	for s := range d.values[slot : int(slot)+width] {
		d.values[int(slot)+s] = value
	}
}

// place puts a node below slot, or its value alone if it has only one. Slots are placed in ascending order.
func (d *draft) place(slot uint, n node) {
	if value, ok := n.uniform(); ok {
		d.values[slot] = value
		return
	}
	d.inner |= 1 << slot
	d.children = append(d.children, n)
}

// copy takes over what a node has at slot. Slots are taken in ascending order.
func (d *draft) copy(slot uint, n *node) {
	if n.inner>>slot&1 == 1 {
		d.place(slot, n.children[below(n.inner, slot)])
		return
	}
	d.values[slot] = n.value(slot)
}

// uniform reports whether the whole node has one value, and which.
func (n *node) uniform() (value uint32, ok bool) {
	if n.inner != 0 || n.starts&^1 != 0 {
		return 0, false
	}
	return n.value(0), true
}

// node is the finished node. The draft must not be used afterwards.
func (d *draft) node() node {
	n := node{inner: d.inner, children: slices.Clone(d.children)}
	var runs [slots]uint32
	count := 0
	for slot, value := range d.values {
		if d.inner>>slot&1 == 1 || count > 0 && runs[count-1] == value {
			continue
		}
		n.starts |= 1 << slot
		runs[count] = value
		count++
	}
	if count > 0 {
		n.values = slices.Clone(runs[:count])
	}
	return n
}
