package prefix

import "net/netip"

// Ordered makes a [Table] of prefixes that come in address order and do not overlap, as those of a database do. Unlike a
// [Builder] it keeps none of them: beside the table that grows there is one draft for each level of the tree. The zero
// Ordered is empty and ready; it is for one goroutine.
type Ordered struct {
	ipv4, ipv6 ordered
}

// Set gives value to every address of p, and tells whether p comes after all prefixes of its family that came before. One
// that does not changes nothing.
func (o *Ordered) Set(p netip.Prefix, value uint32) bool {
	if !p.IsValid() {
		return false
	}
	family := &o.ipv6
	if p.Addr().Is4() {
		family = &o.ipv4
	}
	return family.set(keyOf(p.Masked().Addr()), p.Bits(), value)
}

// Table is the table of all that was set. The Ordered is empty again afterwards.
func (o *Ordered) Table() *Table {
	t := newTable(o.ipv4.node(), o.ipv6.node())
	*o = Ordered{}
	return t
}

// ordered is the unfinished nodes of one family: the root, and on each level below it the one in which the last prefix lies.
type ordered struct {
	open []level
	next key  // the first address behind the last prefix
	full bool // there is none
}

// level is a node in the making, whose slot 0 begins at an address.
type level struct {
	draft
	at key
}

func (o *ordered) set(k key, length int, value uint32) bool {
	if o.full || k.compare(o.next) < 0 {
		return false
	}
	if len(o.open) == 0 {
		o.open = append(o.open, level{})
	}
	for depth := o.depth(); depth > 0 && (depth >= length || k.first(depth) != o.open[len(o.open)-1].at); depth = o.depth() {
		o.close()
	}
	for length > o.depth()+stride {
		o.open = append(o.open, level{at: k.first(o.depth() + stride)})
	}
	depth := o.depth()
	o.open[len(o.open)-1].fill(k.from(depth).slot(), 1<<(depth+stride-length), value)
	o.next, o.full = k.after(length)
	return true
}

// depth is the bits that lead to the deepest open node.
func (o *ordered) depth() int { return (len(o.open) - 1) * stride }

// close finishes the deepest open node.
func (o *ordered) close() {
	done := &o.open[len(o.open)-1]
	above := &o.open[len(o.open)-2]
	above.place(done.at.from(o.depth()-stride).slot(), done.node())
	*done = level{}
	o.open = o.open[:len(o.open)-1]
}

// node is the root, when all is set.
func (o *ordered) node() node {
	if len(o.open) == 0 {
		o.open = []level{{}}
	}
	for len(o.open) > 1 {
		o.close()
	}
	return o.open[0].node()
}

// first is k with all bits but the first n cleared.
func (k key) first(n int) key {
	if n >= 64 {
		return key{k.high, k.low &^ (^uint64(0) >> (n - 64))}
	}
	return key{high: k.high &^ (^uint64(0) >> n)}
}

// after is the first address behind the block of so many bits that begins at k; last tells that there is none.
func (k key) after(length int) (next key, last bool) {
	if length == 0 {
		return key{}, true
	}
	if length > 64 {
		next = key{k.high, k.low + 1<<(128-length)}
		if next.low == 0 {
			next.high++
		}
	} else {
		next.high, next.low = k.high+1<<(64-length), k.low
	}
	return next, next == key{}
}
