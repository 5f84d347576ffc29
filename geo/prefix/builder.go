package prefix

import (
	"cmp"
	"net/netip"
	"slices"
)

// Builder collects prefixes with their values and makes a [Table] of them. The zero Builder is empty and ready. A
// Builder is for one goroutine; its tables are for all.
type Builder struct {
	ipv4, ipv6 []rule
}

// rule says that the addresses of a prefix have a value, where no longer prefix says otherwise.
type rule struct {
	key
	length int32
	value  uint32
}

// Set gives value to every address of p for which no longer prefix is set. The order of the calls does not matter, save
// that of two calls with the same prefix the later one counts. Bits of the address behind the prefix are ignored, and so
// is an invalid prefix: it holds no address.
func (b *Builder) Set(p netip.Prefix, value uint32) {
	if !p.IsValid() {
		return
	}
	r := rule{keyOf(p.Masked().Addr()), int32(p.Bits()), value}
	if p.Addr().Is4() {
		b.ipv4 = append(b.ipv4, r)
		return
	}
	b.ipv6 = append(b.ipv6, r)
}

// Table makes the table of everything that was set so far. The builder may go on afterwards.
func (b *Builder) Table() *Table {
	return newTable(grown(b.ipv4), grown(b.ipv6))
}

// grown is the root of the tree in which rules hold and every other address has value 0.
//
// The rules are sorted so that a prefix comes before all that it covers; so writing them in order lets the longest
// win. The sort is stable: of equal prefixes the later one is written last. A database comes sorted.
func grown(rules []rule) node {
	if !slices.IsSortedFunc(rules, rule.compare) {
		slices.SortStableFunc(rules, rule.compare)
	}
	return grow(rules, 0, 0)
}

func (r rule) compare(o rule) int {
	return cmp.Or(r.key.compare(o.key), cmp.Compare(r.length, o.length))
}

// grow is the node at depth for rules that all lie within it, on a ground of value.
func grow(rules []rule, depth int, value uint32) node {
	var d draft
	d.fill(0, slots, value)
	for len(rules) > 0 {
		r := rules[0]
		slot := r.from(depth).slot()
		if int(r.length) <= depth+stride {
			d.fill(slot, 1<<(depth+stride-int(r.length)), r.value)
			rules = rules[1:]
			continue
		}
		deeper := 1
		for deeper < len(rules) && rules[deeper].from(depth).slot() == slot {
			deeper++
		}
		d.place(slot, grow(rules[:deeper], depth+stride, d.values[slot]))
		rules = rules[deeper:]
	}
	return d.node()
}
