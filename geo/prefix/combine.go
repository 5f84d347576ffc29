package prefix

import "net/netip"

// Map is the table with f of the value for every address. Neighbours that become equal are merged. f is called at least
// once for every value in the table, and often more, so it must depend on its argument alone.
func (t *Table) Map(f func(uint32) uint32) *Table {
	return Overlay(t, &Table{}, func(x, _ uint32) uint32 { return f(x) })
}

// Overlay is the table with f of the values in a and b for every address. Neighbours that become equal are merged. f is
// called at least once for every pair of values that meet, and often more, so it must depend on its arguments alone.
func Overlay(a, b *Table, f func(x, y uint32) uint32) *Table {
	return newTable(overlay(a.ipv4, b.ipv4, f), overlay(a.ipv6, b.ipv6, f))
}

func overlay(a, b node, f func(x, y uint32) uint32) node {
	var d draft
	inner := a.shape().inner | b.shape().inner
	x, y := a.values(), b.values()
	last := -1 // the value slot before, since runs are long and f may be dear
	for slot := range slots {
		switch {
		case inner>>slot&1 == 1:
			d.place(uint(slot), overlay(a.under(uint(slot)), b.under(uint(slot)), f))
			continue
		case last >= 0 && x[slot] == x[last] && y[slot] == y[last]:
			d.values[slot] = d.values[last]
		default:
			d.values[slot] = f(x[slot], y[slot])
		}
		last = slot
	}
	return d.node()
}

// Replace is the table with the values of in for every address of p, and its own for all others. What becomes equal is
// merged. Only what lies on the path to p is made anew: all else is shared with t and in.
func (t *Table) Replace(p netip.Prefix, in *Table) *Table {
	replaced := *t
	k := keyOf(p.Masked().Addr())
	if p.Addr().Is4() {
		replaced.ipv4 = replace(t.ipv4, in.ipv4, k, p.Bits())
		first := int(k.high >> (64 - blockBits))
		replaced.face = t.face.after(replaced.ipv4, first, first|(1<<blockBits-1)>>p.Bits())
	} else {
		replaced.ipv6 = replace(t.ipv6, in.ipv6, k, p.Bits())
	}
	return &replaced
}

// replace is a with what b has in the block that begins at k, length bits below the node.
func replace(a, b node, k key, length int) node {
	var d draft
	first := k.slot()
	width := uint(1) << max(0, stride-length)
	for slot := range uint(slots) {
		switch {
		case slot < first || slot >= first+width:
			d.copy(slot, a)
		case length > stride:
			d.place(slot, replace(a.under(slot), b.under(slot), k.rest(), length-stride))
		default:
			d.copy(slot, b)
		}
	}
	return d.node()
}
