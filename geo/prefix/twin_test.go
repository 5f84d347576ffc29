package prefix

import (
	"net/netip"

	"pgregory.net/rapid"
)

// twin is the table as its documentation says it, and nothing more: rules in the order of the calls, found by reading
// all of them.
type twin []network

type network struct {
	prefix netip.Prefix
	value  uint32
}

func (w twin) lookup(a netip.Addr) (value uint32) {
	length := -1
	for _, n := range w {
		if n.prefix.Contains(a) && n.prefix.Bits() >= length {
			value, length = n.value, n.prefix.Bits()
		}
	}
	return value
}

func (w twin) table() *Table {
	var b Builder
	for _, n := range w {
		b.Set(n.prefix, n.value)
	}
	return b.Table()
}

// universe is a block of 256 units in which all values can be seen at once. Rules lie within it, are no longer than a
// unit, or cover it whole. So one address stands for its unit, and one for each sibling of a block around the universe.
type universe struct {
	base netip.Prefix
}

const unitBits = 8

func (u universe) unit(i int) netip.Addr {
	k := keyOf(u.base.Addr())
	for bit := range unitBits {
		if i>>(unitBits-1-bit)&1 == 1 {
			k = k.flip(u.base.Bits() + bit)
		}
	}
	return u.address(k)
}

func (u universe) address(k key) netip.Addr {
	if u.base.Addr().Is4() {
		return k.prefix4(32).Addr()
	}
	return k.prefix6(128).Addr()
}

func (k key) flip(bit int) key {
	one := key{high: 1 << 63 >> bit}
	if bit >= 64 {
		one = key{low: 1 << 63 >> (bit - 64)}
	}
	return key{k.high ^ one.high, k.low ^ one.low}
}

// spans finds the span of every unit by its definition: the block is widened while all in it have one value.
func (u universe) spans(value func(netip.Addr) uint32) (values [1 << unitBits]uint32, spans [1 << unitBits]int) {
	for i := range values {
		values[i] = value(u.unit(i))
	}
	for i := range values {
		spans[i] = u.base.Bits() + unitBits
		for width := 2; width <= len(values); width *= 2 {
			first := i &^ (width - 1)
			if !all(values[first:first+width], values[i]) {
				break
			}
			spans[i]--
		}
		for spans[i] <= u.base.Bits() && spans[i] > 0 {
			sibling := u.address(keyOf(u.base.Addr()).flip(spans[i] - 1))
			if value(sibling) != values[i] {
				break
			}
			spans[i]--
		}
	}
	return values, spans
}

func all(values []uint32, value uint32) bool {
	for _, v := range values {
		if v != value {
			return false
		}
	}
	return true
}

func drawUniverse(t *rapid.T) universe {
	k := key{rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low")}
	if rapid.Bool().Draw(t, "ipv4") {
		return universe{k.prefix4(rapid.IntRange(0, 32-unitBits).Draw(t, "base")).Masked()}
	}
	return universe{k.prefix6(rapid.IntRange(0, 128-unitBits).Draw(t, "base")).Masked()}
}

// drawTwin draws few values, so that neighbours often merge, and mostly prefixes within the universe.
func (u universe) drawTwin(t *rapid.T, label string) twin {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) network {
		length := u.base.Bits() + rapid.IntRange(0, unitBits).Draw(t, "length")
		if rapid.IntRange(0, 7).Draw(t, "covering") == 0 {
			length = rapid.IntRange(0, u.base.Bits()).Draw(t, "short")
		}
		a := u.unit(rapid.IntRange(0, 1<<unitBits-1).Draw(t, "unit"))
		return network{netip.PrefixFrom(a, length), rapid.Uint32Range(0, 2).Draw(t, "value")}
	}), 0, 40).Draw(t, label)
}

// check holds a table against the values it should have: each look-up, each span, and the partition.
func (u universe) check(t rapid.TB, got *Table, want func(netip.Addr) uint32) {
	t.Helper()
	values, spans := u.spans(want)
	for i := range values {
		a := u.unit(i)
		if value, span := got.Lookup(a); value != values[i] || span != spans[i] {
			t.Fatalf("Lookup(%s) = %d, %d; want %d, %d", a, value, span, values[i], spans[i])
		}
	}
	checkPartition(t, got)
}

// checkPartition: the blocks of All follow each other without a gap from the first address of each family to the last,
// each is exactly the span of its addresses, and no two make one.
func checkPartition(t rapid.TB, got *Table) {
	t.Helper()
	next, last := netip.IPv4Unspecified(), network{}
	for p, value := range got.All() {
		if next == netip.AddrFrom4([4]byte{255, 255, 255, 255}).Next() && p.Addr().Is6() {
			next, last = netip.IPv6Unspecified(), network{}
		}
		if p.Addr() != next || p != p.Masked() {
			t.Fatalf("All gives %s where %s begins", p, next)
		}
		if v, span := got.Lookup(next); v != value || span != p.Bits() {
			t.Fatalf("All gives %s %d, but Lookup %d, span %d", p, value, v, span)
		}
		if parent, err := p.Addr().Prefix(p.Bits() - 1); err == nil && last.prefix.IsValid() &&
			last.prefix.Bits() == p.Bits() && parent.Contains(last.prefix.Addr()) && last.value == value {
			t.Fatalf("All gives %s and %s, both with %d", last.prefix, p, value)
		}
		last = network{p, value}
		next = after(p)
	}
	if next.IsValid() || last.prefix.Addr().Is4() {
		t.Fatalf("All ends before %s", next)
	}
}

// after is the first address behind p, the zero Addr where none follows.
func after(p netip.Prefix) netip.Addr {
	k := keyOf(p.Addr())
	width := 128
	if p.Addr().Is4() {
		width = 32
	}
	for bit := p.Bits(); bit < width; bit++ {
		k = k.flip(bit)
	}
	if p.Addr().Is4() {
		return k.prefix4(32).Addr().Next()
	}
	return k.prefix6(128).Addr().Next()
}
