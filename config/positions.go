package config

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
)

// positions says where every key and item of the files stands, by its dotted path. There may be a million of
// them, so a path is known by a hash of 64 bits alone: that two of a million share one happens once in thirty million
// configs, and then a message points to a wrong line. They are sorted when the first is asked for; most
// configs have nothing to be told of. Nil knows nothing.
type positions struct {
	seed   maphash.Seed
	files  []string
	sorted sync.Once
	all    []position
}

// position is where a path stands.
type position struct {
	path uint64
	file uint32
	spot
}

// newPositions notes where everything in a tree stands.
func newPositions(root *node) *positions {
	p := &positions{seed: maphash.MakeSeed(), all: make([]position, 0, root.count())}
	p.add(root, nil, map[*string]uint32{})
	return p
}

// add notes a node, whose path is given, and all below it.
func (p *positions) add(n *node, path []byte, numbers map[*string]uint32) {
	file, ok := numbers[n.file]
	if !ok {
		file = uint32(len(p.files))
		numbers[n.file], p.files = file, append(p.files, *n.file)
	}
	p.all = append(p.all, position{maphash.Bytes(p.seed, path), file, n.key})
	for i, c := range n.children {
		if n.shape == isList {
			p.add(c, appendItem(path, i), numbers)
		} else {
			p.add(c, appendKey(path, c.name), numbers)
		}
	}
}

// of gives where a path stands, and whether the operator wrote it.
func (p *positions) of(path string) (Pos, bool) {
	if p == nil {
		return Pos{}, false
	}
	p.sorted.Do(func() {
		slices.SortFunc(p.all, func(a, b position) int {
			return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
		})
	})
	i, ok := slices.BinarySearchFunc(p.all, maphash.String(p.seed, path), func(a position, hash uint64) int { return cmp.Compare(a.path, hash) })
	if !ok {
		return Pos{}, false
	}
	at := p.all[i]
	return Pos{p.files[at.file], int(at.line), int(at.column)}, true
}

// count is the number of nodes of the tree.
func (n *node) count() int {
	count := 1
	for _, c := range n.children {
		count += c.count()
	}
	return count
}
