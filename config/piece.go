package config

import (
	"bytes"
	"slices"
	"sync/atomic"

	"go.yaml.in/yaml/v3"
)

// pieceSize is about how many bytes of a large text are read at a time: the parser's nodes take some thirty
// times as many.
const pieceSize = 256 << 10

// piece is a part of a text that can be read by itself: some keys of the top level. The first of them may be a
// section that began in an earlier piece, and goes on with some of its keys.
type piece struct {
	section []byte // the line of that section's key; nil: the text begins with a key of its own
	text    []byte
	above   int // lines of the file above text
}

// cutter cuts a text into pieces. It cuts before a key of the top level, and before a key that is indented as
// the first one of its section. Where the part before such a line is YAML by itself, no bracket, quote or block is
// open there, so the rest goes on with the mapping that the line's indent says.
type cutter struct {
	size    int
	pieces  []piece
	now     piece
	section []byte // the line of the key under which lines stand; nil where no cut is allowed
	indent  int    // of the section's first key; 0 before it
	line    int
}

// pieces gives the parts of a text, or none where it must be read as a whole: it may not hold anchors, merge keys,
// directives, ends of documents, nor line ends of other kinds, which only the parser counts.
func pieces(text []byte, size int) []piece {
	for _, mark := range []string{"&", "<<", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(mark)) {
			return nil
		}
	}
	c := cutter{size: size}
	start := 0
	for at := 0; at < len(text); c.line++ {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := text[at:end]
		if c.marks(line) {
			return nil
		}
		if section, ok := c.cuts(line); ok && at-start >= size {
			c.end(text[start:at], section)
			start = at
		}
		at = end
	}
	c.end(text[start:], nil)
	return c.pieces
}

// marks tells of a line that begins or ends a document, gives a directive, or a key by a question mark. A line that
// begins the first document does no harm.
func (c *cutter) marks(line []byte) bool {
	begins := bytes.HasPrefix(line, []byte("---"))
	return line[0] == '%' || bytes.HasPrefix(line, []byte("...")) || begins && c.line > 0 || bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("?"))
}

// cuts tells whether a piece may begin with a line, and of which section it then is.
func (c *cutter) cuts(line []byte) (section []byte, ok bool) {
	indent, alone, ok := plainKey(line)
	switch {
	case !ok:
		if says := bytes.TrimLeft(line, " \n"); c.indent == 0 && len(says) > 0 && says[0] != '#' {
			c.section = nil // it does not begin with a plain key
		}
		return nil, false
	case indent == 0:
		c.section, c.indent = nil, 0
		if alone {
			c.section = line
		}
		return nil, true
	case c.section == nil:
		return nil, false
	case c.indent == 0:
		c.indent = indent
	}
	return c.section, indent == c.indent
}

// plainKey tells whether a line gives a key that is no more of YAML than letters, digits, -, _ and . until its colon,
// how far it is indented, and whether it is alone in its line.
func plainKey(line []byte) (indent int, alone, ok bool) {
	key := bytes.TrimLeft(line, " ")
	indent = len(line) - len(key)
	end := bytes.IndexFunc(key, func(r rune) bool { return !inPlainKey(r) })
	if end < 1 || key[end] != ':' {
		return 0, false, false
	}
	value := key[end+1:]
	alone = len(bytes.Trim(value, " \n")) == 0
	return indent, alone, alone || value[0] == ' '
}

func inPlainKey(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.'
}

// end adds a piece; the next one belongs to a section.
func (c *cutter) end(text, section []byte) {
	c.now.text = text
	c.pieces = append(c.pieces, c.now)
	c.now = piece{section: section, above: c.line}
}

// parsePieces reads a text piece by piece, and tells whether that could be done: nothing was wrong with it.
func (by Processors) parsePieces(s Source, size int) (*node, bool) {
	if len(s.Text) < 2*size {
		return nil, false
	}
	parts := pieces(s.Text, size)
	if len(parts) < 2 {
		return nil, false
	}
	trees := make([]*node, len(parts))
	var bad atomic.Bool
	by.Each(len(parts), func(i int) {
		if bad.Load() {
			return
		}
		tree, ok := parsePiece(&s.File, parts[i])
		if trees[i] = tree; !ok {
			bad.Store(true)
		}
	})
	if bad.Load() {
		return nil, false
	}
	return join(trees, parts)
}

// parsePiece reads one piece.
func parsePiece(file *string, p piece) (*node, bool) {
	text, above := p.text, p.above
	if p.section != nil {
		text = append(append(make([]byte, 0, len(p.section)+len(p.text)), p.section...), p.text...)
		above--
	}
	if root, ok := plainTree(file, string(text), above); ok {
		return root, true
	}
	return parsedTree(file, text, above)
}

// parsedTree reads a text with the parser.
func parsedTree(file *string, text []byte, above int) (*node, bool) {
	g := newGrower(*file, text)
	g.file, g.above = file, above
	root := g.root()
	y, more, err := decode(bytes.NewReader(text))
	if err != nil || more != nil || y == nil {
		return root, false
	}
	if top := y.Content[0]; top.Style&yaml.FlowStyle != 0 || top.Column != 1 { // the next piece does not go on with it
		return root, false
	}
	g.grow(y, root, 0)
	return root, len(g.problems) == 0 && root.shape == isMapping
}

// join puts the trees of the pieces together, and tells whether that is the tree of the whole: no key is given twice.
func join(trees []*node, parts []piece) (root *node, ok bool) {
	root = trees[0]
	root.key = spot{1, 1}
	for i, tree := range trees[1:] {
		rest := tree.children
		if parts[i+1].section != nil {
			open, more := root.children[len(root.children)-1], rest[0]
			if open.shape != isMapping || more.shape != isMapping {
				return nil, false
			}
			open.adopt(more.children)
			rest = rest[1:]
		}
		root.adopt(rest)
	}
	return root, root.distinct() && !slices.ContainsFunc(root.children, func(n *node) bool { return !n.distinct() })
}

// adopt adds children that had another parent.
func (n *node) adopt(children []*node) {
	for _, c := range children {
		c.parent = n
	}
	n.children = append(n.children, children...)
}

// distinct tells whether no key of a mapping is given twice.
func (n *node) distinct() bool {
	const few = 8 // that are compared with each other
	if len(n.children) <= few {
		for i, c := range n.children {
			for _, other := range n.children[:i] {
				if n.shape == isMapping && other.name == c.name {
					return false
				}
			}
		}
		return true
	}
	known := make(map[string]bool, len(n.children))
	for _, c := range n.children {
		if n.shape == isMapping && known[c.name] {
			return false
		}
		known[c.name] = true
	}
	return true
}
