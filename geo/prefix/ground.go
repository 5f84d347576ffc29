package prefix

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// Ground is a table made ready to be seen through many lenses, each of which costs little beside it; see [Lens]. Like the
// table it never changes. The values of its table are less than 2^31.
//
// Its nodes are those of the table, in one piece. What a lens has to know of a node is whether all that lies below it
// becomes one value, and that depends only on which values lie there. So nodes with the same values below them are of
// one kind, and a lens looks at each kind once.
type Ground struct {
	plots  []plot   // 0 and 1 are the roots of IPv4 and IPv6; the children of a plot lie side by side
	values []uint32 // of the runs of all plots
	kinds  kinds
	width  uint32 // 1 more than the largest value
}

// plot is one node of a ground; see [node].
type plot struct {
	shape
	children, first uint32 // where its children begin among plots, and its runs among values
	kind            uint32
}

// NewGround prepares a table.
func NewGround(t *Table) *Ground {
	g := &Ground{plots: make([]plot, 2), kinds: newKinds(), width: 1}
	g.lay(0, t.ipv4)
	g.lay(1, t.ipv6)
	g.plots, g.values = slices.Clip(g.plots), slices.Clip(g.values)
	g.kinds.known = nil
	return g
}

// Len is the number of nodes.
func (g *Ground) Len() int { return len(g.plots) }

// Width is 1 more than the largest value of the table.
func (g *Ground) Width() int { return int(g.width) }

// lay writes a node and all below it to a plot, and returns what lies there.
func (g *Ground) lay(at int, n node) []uint32 {
	p := plot{shape: n.shape(), children: uint32(len(g.plots)), first: uint32(len(g.values))}
	for left := p.starts; left != 0; left &= left - 1 {
		v := n.value(uint(bits.TrailingZeros64(left)))
		g.values = append(g.values, v)
		g.width = max(g.width, v+1)
	}
	within := slices.Clone(g.values[p.first:])
	g.plots = append(g.plots, make([]plot, bits.OnesCount64(p.inner))...)
	child := int(p.children)
	for left := p.inner; left != 0; left &= left - 1 {
		within = append(within, g.lay(child, n.under(uint(bits.TrailingZeros64(left))))...)
		child++
	}
	slices.Sort(within)
	within = slices.Compact(within)
	p.kind = g.kinds.intern(within)
	g.plots[at] = p
	if len(within) > mostListed {
		within = []uint32{p.kind | isKind}
	}
	return within
}

// kinds numbers sets of values, each of which is written as its values or, where they are many, as the kinds that are its
// parts, which have smaller numbers.
type kinds struct {
	members []uint32
	ends    []uint32 // kind k has the members from ends[k] to ends[k+1]

	seed  maphash.Seed
	known map[uint64]uint32 // by hash of the members, or the next number that is free
}

const (
	// mostListed is how many values a kind passes on to the kinds around it by themselves.
	mostListed = 12
	// isKind marks a member that is a kind rather than a value.
	isKind = 1 << 31
)

func newKinds() kinds {
	return kinds{ends: []uint32{0}, seed: maphash.MakeSeed(), known: map[uint64]uint32{}}
}

func (ks *kinds) intern(set []uint32) uint32 {
	var h maphash.Hash
	h.SetSeed(ks.seed)
	for _, v := range set {
		maphash.WriteComparable(&h, v)
	}
	sum := h.Sum64()
	for ; ; sum++ {
		k, ok := ks.known[sum]
		if !ok {
			break
		}
		if slices.Equal(ks.of(k), set) {
			return k
		}
	}
	k := uint32(len(ks.ends) - 1)
	ks.known[sum] = k
	ks.members = append(ks.members, set...)
	ks.ends = append(ks.ends, uint32(len(ks.members)))
	return k
}

// of gives the members of a kind.
func (ks *kinds) of(k uint32) []uint32 { return ks.members[ks.ends[k]:ks.ends[k+1]] }

// child is the plot below a slot that has one.
func (g *Ground) child(p *plot, slot uint) *plot {
	return &g.plots[p.children+uint32(below(p.inner, slot))]
}

// value is the value of a slot without a child.
func (g *Ground) value(p *plot, slot uint) uint32 {
	return g.values[p.first+uint32(bits.OnesCount64(p.starts&upTo(slot)))-1]
}
