package config

import "hash/maphash"

// positions says where every key and item of the files stands, by its dotted path. There may be a million of
// them, so a path is known by a hash of 64 bits alone: that two of a million share one happens once in thirty million
// configs, and then a message points to a wrong line. The zero value and nil know nothing.
type positions struct {
	seed  maphash.Seed
	files []string
	at    map[uint64]position
}

// position is a spot in one of the files.
type position struct {
	spot
	file uint32
}

// newPositions notes where everything in a tree stands.
func newPositions(root *node) *positions {
	p := &positions{seed: maphash.MakeSeed(), at: make(map[uint64]position, root.count())}
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
	hash := maphash.Bytes(p.seed, path)
	if _, ok := p.at[hash]; !ok {
		p.at[hash] = position{n.key, file}
	}
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
	at, ok := p.at[maphash.String(p.seed, path)]
	if !ok {
		return Pos{}, false
	}
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
