package prefix

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// field is the values of a block of addresses, unit by unit, and 0 around it. It has so many units that a table of it
// is forks and packed pieces, as a full routing table is.
type field struct {
	base   netip.Prefix
	units  []netip.Prefix
	values []uint32
}

const fieldBits = 2*stride + 1

// drawField draws runs of values on a ground of noise, which fills none of the field, half of it or all. So
// a subtree is sometimes too big for one piece.
func drawField(t *rapid.T, base netip.Prefix, label string) field {
	f := newField(base)
	luck := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, label), 1))
	values := rapid.SampledFrom([]uint32{2, 1 << 12, 1 << 30}).Draw(t, label+" values")
	noisy := rapid.SampledFrom([]int{0, 1 << (fieldBits - 1), 1 << fieldBits}).Draw(t, label+" noise")
	begin := luck.IntN(len(f.values))
	for i := range noisy {
		f.values[(begin+i)%len(f.values)] = luck.Uint32N(values)
	}
	for range luck.IntN(10) {
		width := 1 << luck.IntN(fieldBits+1)
		begin := luck.IntN(len(f.values)) &^ (width - 1)
		value := luck.Uint32N(values)
		for i := range width {
			f.values[begin+i] = value
		}
	}
	return f
}

func drawFieldBase(t *rapid.T) netip.Prefix {
	k := key{rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low")}
	if rapid.Bool().Draw(t, "ipv4") {
		return k.prefix4(rapid.IntRange(0, 32-fieldBits).Draw(t, "base")).Masked()
	}
	return k.prefix6(rapid.IntRange(0, 128-fieldBits).Draw(t, "base")).Masked()
}

func newField(base netip.Prefix) field {
	f := field{base, make([]netip.Prefix, 1<<fieldBits), make([]uint32, 1<<fieldBits)}
	for i := range f.units {
		k := keyOf(base.Addr()).with(base.Bits(), uint(i)>>(stride+1)).
			with(base.Bits()+stride, uint(i)>>1%slots).with(base.Bits()+2*stride, uint(i)%2<<(stride-1))
		if base.Addr().Is4() {
			f.units[i] = k.prefix4(base.Bits() + fieldBits)
		} else {
			f.units[i] = k.prefix6(base.Bits() + fieldBits)
		}
	}
	return f
}

func (f field) table() *Table {
	var b Builder
	for i, value := range f.values {
		b.Set(f.units[i], value)
	}
	return b.Table()
}

// spans finds the span of every unit by its definition: of all blocks around it that have one value, the widest. It
// is right where not all of the field has one.
func (f field) spans() []int {
	spans := make([]int, len(f.values))
	for size := range fieldBits + 1 {
		for first := 0; first < len(spans); first += 1 << size {
			if block := f.values[first : first+1<<size]; all(block, block[0]) {
				for i := range block {
					spans[first+i] = f.base.Bits() + fieldBits - size
				}
			}
		}
	}
	return spans
}

func (f field) check(t *rapid.T, got *Table) {
	t.Helper()
	spans := f.spans()
	whole := spans[0] == f.base.Bits()
	for i, value := range f.values {
		a := f.units[i].Addr()
		if v, span := got.Lookup(a); v != value || span != spans[i] && !whole {
			t.Fatalf("Lookup(%s) = %d, %d; want %d, %d", a, v, span, value, spans[i])
		}
	}
	checkPartition(t, got)
}

// same: a table is one, in every bit, however it was made.
func (f field) same(t *rapid.T, got *Table) {
	t.Helper()
	if !reflect.DeepEqual(got, f.table()) {
		t.Fatalf("the table is another one than that which is built of the same values")
	}
}

func TestBigTableAgreesWithItsField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawField(t, drawFieldBase(t), "field")
		f.check(t, f.table())
	})
}

// A block is replaced in a table by what another one has, so that forks become packed, and what was packed forks.
func TestReplaceInBigTableAgreesWithItsField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := drawFieldBase(t)
		f, g := drawField(t, base, "table"), drawField(t, base, "in")
		a, b := f.table(), g.table()
		length := rapid.IntRange(0, base.Bits()+fieldBits).Draw(t, "length")
		block := netip.PrefixFrom(f.units[rapid.IntRange(0, 1<<fieldBits-1).Draw(t, "unit")].Addr(), length).Masked()
		want := newField(base)
		for i := range want.values {
			want.values[i] = f.values[i]
			if block.Contains(f.units[i].Addr()) {
				want.values[i] = g.values[i]
			}
		}
		got := a.Replace(block, b)
		want.check(t, got)
		want.same(t, got)
		f.same(t, a) // the operands are as they were
		g.same(t, b)
		checkPieces(t, got.ipv4)
		checkPieces(t, got.ipv6)
	})
}

func TestOverlayOfBigTablesAgreesWithTheirFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := drawFieldBase(t)
		f, g := drawField(t, base, "a"), drawField(t, base, "b")
		sum := newField(base)
		for i := range sum.values {
			sum.values[i] = (f.values[i] + g.values[i]) >> 1
		}
		got := Overlay(f.table(), g.table(), func(x, y uint32) uint32 { return (x + y) >> 1 })
		sum.check(t, got)
		sum.same(t, got)
	})
}

// checkPieces: no piece of memory is kept for the sake of a part of it.
func checkPieces(t *rapid.T, n node) {
	t.Helper()
	if n.fork == nil {
		if cap(n.packed) > len(n.packed)+len(n.packed)/4+16 {
			t.Fatalf("%d bytes are part of %d", len(n.packed), cap(n.packed))
		}
		return
	}
	for _, below := range n.fork.slots {
		checkPieces(t, below)
	}
}
