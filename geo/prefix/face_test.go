package prefix

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// crowd draws a table with so many networks in one or two blocks of its face that these are not empty.
func crowd(t *rapid.T) (*Table, *rand.Rand) {
	luck := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "luck"), 1))
	values := rapid.SampledFrom([]uint32{2, 250, 1 << 12, 1 << 30}).Draw(t, "values")
	longest := rapid.SampledFrom([]int{24, 32}).Draw(t, "longest")
	var b Builder
	for range rapid.SampledFrom([]int{300, 1000, 3000}).Draw(t, "networks") {
		b.Set(within(luck, longest), luck.Uint32N(values))
	}
	return b.Table(), luck
}

// within is a network of 10.0.0.0/9, which is two blocks, most often in its first half.
func within(luck *rand.Rand, longest int) netip.Prefix {
	k := key{high: 10<<56 | luck.Uint64()>>(9+luck.IntN(2))}
	return netip.PrefixFrom(k.prefix4(32).Addr(), 16+luck.IntN(longest-15)).Masked()
}

// TestFaceAgreesWithTheTree asks both of addresses near each other, in what the face knows and around it.
func TestFaceAgreesWithTheTree(t *testing.T) {
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		table, luck := crowd(t)
		if table.face == nil {
			return
		}
		for range 500 {
			k := key{high: (9<<56 + luck.Uint64()>>6) &^ (1<<32 - 1)}
			value, span := table.face.lookup(uint32(k.high >> 32))
			if span == 0 {
				continue
			}
			known++
			if v, s := table.ipv4.lookup(k); v != value || s != span {
				t.Fatalf("face of %s: %d, %d; the tree has %d, %d", k.prefix4(32), value, span, v, s)
			}
		}
	})
	if known == 0 {
		t.Error("no face knew anything")
	}
}

// TestReplaceKeepsTheFace: the blocks that a change leaves alone are those of the tree that it makes.
func TestReplaceKeepsTheFace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, luck := crowd(t)
		in, _ := crowd(t)
		for range 3 {
			p := within(luck, 24)
			if wide := rapid.IntRange(0, 20).Draw(t, "wide"); wide < p.Bits() {
				p = netip.PrefixFrom(p.Addr(), wide).Masked()
			}
			if table = table.Replace(p, in); !reflect.DeepEqual(table.face, newFace(table.ipv4)) {
				t.Fatalf("after %s the face is another one than that of the tree", p)
			}
		}
	})
}
