package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	maxText    = 64 << 20  // bytes of one config file; names in bulk belong in zone files
	maxAliased = 200_000   // nodes that the aliases of one file may stand for
	maxDepth   = 20        // levels of nesting; the table has fewer
	maxSought  = 256 << 10 // bytes of a text in which the line of a syntax error is sought: it is read a dozen times
)

// parseText reads one file as a tree. It always gives a tree: what could not be read is missing from it.
func parseText(s Source) (*node, Problems) { return Processors(1).parseText(s) }

// parseText reads a large text in pieces, side by side, when it can be; whatever is wrong with it is told of the whole.
func (by Processors) parseText(s Source) (*node, Problems) {
	if len(s.Text) > maxText {
		g := newGrower(s.File, nil)
		g.fault(Pos{File: s.File}, "", "is larger than %d MiB: names in bulk belong in zone files", maxText>>20)
		return g.root(), g.problems
	}
	if root, ok := by.parsePieces(s, pieceSize); ok {
		return root, nil
	}
	return parseWhole(s)
}

// parseWhole reads a text of any kind.
func parseWhole(s Source) (*node, Problems) {
	g := newGrower(s.File, s.Text)
	root := g.root()
	y, more, err := decode(bytes.NewReader(s.Text))
	switch {
	case err != nil:
		g.problems = append(g.problems, syntaxProblem(s, err))
	case more != nil:
		g.fault(g.pos(g.spot(more)), "", "a second document begins here: a config file holds one")
	}
	if y != nil {
		start := root.key
		g.grow(y, root, 0)
		root.key = start
	}
	if g.aliased < 0 {
		root = g.root()
		root.shape = unread
	}
	return root, g.problems
}

// decode gives the first document and, where there is one, the second. The parser answers some
// malformed texts by a panic of its own; to the operator that is one more syntax error.
func decode(text io.Reader) (first, second *yaml.Node, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			first, second, err = nil, nil, fmt.Errorf("yaml: %v", cause)
		}
	}()
	d := yaml.NewDecoder(text)
	var one, two yaml.Node
	if err := d.Decode(&one); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, nil, err
	}
	if err := d.Decode(&two); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return &one, nil, err
	}
	return &one, &two, nil
}

var (
	syntaxLine = regexp.MustCompile(`line ([0-9]+): `)
	// misplaced is what the parser says of a token in the wrong place. It then names the line above, or the
	// one above the mapping or list that the token does not fit into, or none.
	misplaced = regexp.MustCompile(`^did not find expected (node content|key|'-' indicator|',' or|<document start>)`)
)

// syntaxProblem takes the parser's message apart. The parser names no column, so the text of the line
// is pointed at.
func syntaxProblem(s Source, err error) Problem {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if m := syntaxLine.FindStringSubmatch(message); m != nil {
		message = strings.Replace(message, m[0], "", 1)
		line, _ = strconv.Atoi(m[1]) // digits by the pattern; 0 when there are too many
	}
	lines := strings.SplitAfter(string(s.Text), "\n")
	switch {
	case line > 0 && !misplaced.MatchString(message):
	case len(s.Text) <= maxSought:
		line = faultyLine(lines, err)
	default:
		line++
	}
	p := Problem{Pos: Pos{File: s.File, Line: max(line, 1), Column: 1}, Message: "is not YAML: " + message}
	if line > 0 && line <= len(lines) {
		text := lines[line-1]
		p.Pos.Column = len(text) - len(strings.TrimLeft(text, " ")) + 1
		if strings.HasPrefix(text[p.Pos.Column-1:], "\t") {
			p.Message = "is indented by a tab: YAML indents by spaces"
		}
	}
	return p
}

// faultyLine gives the number of the line at which a text comes to have a syntax error: a bracket that
// stays open has it from its own line on.
func faultyLine(lines []string, err error) int {
	text, ends := strings.Join(lines, ""), make([]int, len(lines))
	for i, end := 0, 0; i < len(lines); i++ {
		end += len(lines[i])
		ends[i] = end
	}
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, _, early := decode(strings.NewReader(text[:ends[i]]))
		return early != nil && early.Error() == err.Error()
	})
}

// grower turns the parser's nodes into ours.
type grower struct {
	file      *string
	text      []byte   // that the parser read
	above     int      // lines of the file above it
	lines     []string // of the text, split when first needed
	spare     []node   // not in use yet: made many at a time
	aliased   int      // nodes that aliases may still stand for
	following int      // aliases that are being followed
	outer     Problem  // where the outermost of them stands
	open      map[*yaml.Node]bool
	problems  Problems
}

func newGrower(file string, text []byte) *grower {
	return &grower{file: &file, text: text, aliased: maxAliased, open: map[*yaml.Node]bool{}}
}

// root gives the root of a tree in which nothing stands.
func (g *grower) root() *node {
	start := spot{1, 1}
	return &node{shape: isNothing, file: g.file, key: start, at: start}
}

// below gives a new node for a child of another.
func (g *grower) below(parent *node, key *yaml.Node) *node {
	const many = 256
	if len(g.spare) == 0 {
		g.spare = make([]node, many)
	}
	n := &g.spare[0]
	g.spare = g.spare[1:]
	n.parent, n.file, n.key = parent, g.file, g.spot(key)
	return n
}

// spot is where a node of the parser stands in the file.
func (g *grower) spot(y *yaml.Node) spot { return spot{uint32(y.Line + g.above), uint32(y.Column)} }

func (g *grower) pos(s spot) Pos { return Pos{*g.file, int(s.line), int(s.column)} }

func (g *grower) fault(at Pos, path, format string, args ...any) {
	g.problems = append(g.problems, Problem{Pos: at, Path: path, Message: fmt.Sprintf(format, args...)})
}

// grow fills n, whose name, path and key are set, from y.
func (g *grower) grow(y *yaml.Node, n *node, depth int) {
	n.shape = unread
	if y.Kind == yaml.AliasNode {
		g.follow(y, n, depth)
		return
	}
	n.at = g.spot(y)
	if depth > maxDepth {
		g.fault(n.valuePos(), n.path(), "is nested deeper than %d levels", maxDepth)
		return
	}
	if g.following > 0 && !g.spend(1) {
		return
	}
	switch y.Kind {
	case yaml.DocumentNode:
		g.grow(y.Content[0], n, depth)
	case yaml.SequenceNode:
		g.growList(y, n, depth)
	case yaml.MappingNode:
		n.shape = isMapping
		g.growMapping(y, n, depth, false)
	case yaml.ScalarNode:
		g.growScalar(y, n)
	}
}

// follow puts what an alias stands for in its place. The positions are those of the anchor.
func (g *grower) follow(y *yaml.Node, n *node, depth int) {
	switch {
	case g.open[y.Alias]:
		g.fault(g.pos(g.spot(y)), n.path(), "*%s stands inside the value that it names", y.Value)
		return
	case g.aliased < 0:
		return
	}
	leave := g.enter(y, y.Alias, n)
	g.grow(y.Alias, n, depth)
	leave()
}

func (g *grower) growList(y *yaml.Node, n *node, depth int) {
	n.shape = isList
	n.children = make([]*node, 0, len(y.Content))
	for i, item := range y.Content {
		c := g.below(n, item)
		c.item = int32(i)
		g.grow(item, c, depth+1)
		n.children = append(n.children, c)
	}
}

// growMapping adds the pairs of y to n. Pairs that come through a merge key (<<) yield to those that
// stand in the mapping itself.
func (g *grower) growMapping(y *yaml.Node, n *node, depth int, merged bool) {
	n.children = slices.Grow(n.children, len(y.Content)/2)
	known := make(map[string]*node, len(y.Content)/2)
	for _, c := range n.children {
		known[c.name] = c
	}
	var merges []*yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := resolved(y.Content[i]), y.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			g.fault(g.pos(g.spot(key)), n.path(), "a key must be a text")
			continue
		}
		if key.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		c := g.below(n, y.Content[i])
		c.name = key.Value
		if first := known[c.name]; first != nil {
			if !merged {
				g.fault(c.keyPos(), c.path(), "is given twice: first at %s", first.keyPos())
			}
			continue
		}
		known[c.name] = c
		g.grow(value, c, depth+1)
		n.children = append(n.children, c)
	}
	for _, m := range merges {
		g.mergeKey(m, n, depth)
	}
}

// mergeKey adds what stands behind <<: a mapping, or a list of them.
func (g *grower) mergeKey(y *yaml.Node, n *node, depth int) {
	target := resolved(y)
	sources := []*yaml.Node{target}
	if target.Kind == yaml.SequenceNode {
		sources = target.Content
	}
	for _, s := range sources {
		s = resolved(s)
		switch {
		case s.Kind != yaml.MappingNode:
			g.fault(g.pos(g.spot(y)), n.path(), "<< must name a mapping")
		case g.open[s]:
			g.fault(g.pos(g.spot(y)), n.path(), "<< stands inside the mapping that it names")
		default:
			leave := g.enter(y, s, n)
			if g.spend(1 + len(s.Content)/2) {
				g.growMapping(s, n, depth, true)
			}
			leave()
		}
	}
}

// enter begins to follow an alias that stands in y for n; the result ends it.
func (g *grower) enter(y, target *yaml.Node, n *node) (leave func()) {
	if g.following == 0 {
		g.outer = Problem{Pos: g.pos(g.spot(y)), Path: n.path()}
	}
	g.open[target] = true
	g.following++
	return func() {
		g.following--
		delete(g.open, target)
	}
}

// spend takes nodes from what aliases may stand for, and tells whether that was not too much. It
// complains once, of the outermost alias.
func (g *grower) spend(nodes int) bool {
	if g.aliased < 0 {
		return false
	}
	if g.aliased -= nodes; g.aliased < 0 {
		g.fault(g.outer.Pos, g.outer.Path, "the aliases of this file stand for more than %d values", maxAliased)
	}
	return g.aliased >= 0
}

func resolved(y *yaml.Node) *yaml.Node {
	if y.Kind == yaml.AliasNode {
		return y.Alias
	}
	return y
}

func (g *grower) growScalar(y *yaml.Node, n *node) {
	n.text = y.Value
	switch y.ShortTag() {
	case "!!str", "!!timestamp", "!!merge":
		n.shape = isText
	case "!!int":
		n.shape = isInteger
	case "!!float":
		n.shape = isDecimal
	case "!!bool":
		n.shape = isBoolean
	case "!!null":
		n.shape = isNothing
	default:
		g.fault(n.valuePos(), n.path(), "the tag %s has no meaning here", y.Tag)
	}
	if y.Style&yaml.LiteralStyle != 0 {
		n.at = g.blockStart(y)
	}
}

// blockStart gives where the text of a | block starts: the line below the bar, at the block's indent.
func (g *grower) blockStart(y *yaml.Node) spot {
	if g.lines == nil {
		g.lines = strings.Split(string(g.text), "\n")
	}
	start := spot{uint32(y.Line + 1 + g.above), 1}
	for i := y.Line; i < len(g.lines); i++ {
		if indented := strings.TrimLeft(g.lines[i], " "); strings.TrimRight(indented, "\r") != "" {
			start.column = uint32(len(g.lines[i]) - len(indented) + 1)
			break
		}
	}
	return start
}
