package config

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// shape is what a node is. Forms take a set of shapes.
type shape uint8

// unread is the shape of a value that was complained of already; nobody complains of it again.
const unread shape = 0

const (
	isNothing shape = 1 << iota // a key without a value, or null
	isText
	isInteger
	isDecimal
	isBoolean
	isList
	isMapping
)

// String says a set of shapes in the operator's words.
func (s shape) String() string {
	var words []string
	for bit, word := range []string{"nothing", "a text", "a number", "a number with a fraction", "true or false", "a list", "a mapping"} {
		if s&(1<<bit) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, " or ")
}

// node is one value of a config, with aliases followed and duplicate keys gone. A large config has a million.
type node struct {
	shape    shape
	item     int32   // its number, in a list
	name     string  // its key, in a mapping
	text     string  // of a scalar, as it was written
	parent   *node   // nil for the root
	file     *string // where it stands
	key      spot    // where its key stands; without a key, where the value does
	at       spot    // where the value stands; for a | block, where its first line of text does
	children []*node // items of a list, values of a mapping, in the order of the file
}

// spot is a place in a file; lines and columns count from 1.
type spot struct{ line, column uint32 }

// keyPos is where a node's key stands; without a key, where its value does.
func (n *node) keyPos() Pos { return Pos{*n.file, int(n.key.line), int(n.key.column)} }

// valuePos is where a node's value stands; for a | block, where its first line of text does.
func (n *node) valuePos() Pos { return Pos{*n.file, int(n.at.line), int(n.at.column)} }

// path is the dotted path from the root: "services.video.at.nsk[0]".
func (n *node) path() string { return string(n.appendPath(nil)) }

func (n *node) appendPath(b []byte) []byte {
	switch {
	case n.parent == nil:
		return b
	case n.parent.shape == isList:
		return appendItem(n.parent.appendPath(b), int(n.item))
	}
	return appendKey(n.parent.appendPath(b), n.name)
}

// child gives the value of a key, or nil.
func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// scalar tells a node without children.
func (n *node) scalar() bool { return n.shape&(isNothing|isList|isMapping) == 0 }

// given says what stands there, for a message that says what should.
func (n *node) given() string {
	if n.shape == isText {
		return "the text " + strconv.Quote(cut(n.text))
	}
	if n.scalar() {
		return cut(n.text)
	}
	return n.shape.String()
}

// cut keeps a word that is quoted in a message short.
func cut(s string) string {
	const longest = 60
	if letters := []rune(s); len(letters) > longest {
		return string(letters[:longest]) + "…"
	}
	return s
}

// json is the node as canonical JSON: keys in order of their names, no space.
func (n *node) json(b []byte) []byte {
	switch n.shape {
	case isList:
		b = append(b, '[')
		for i, c := range n.children {
			b = c.json(comma(b, i))
		}
		return append(b, ']')
	case isMapping:
		sorted := slices.SortedFunc(slices.Values(n.children), func(x, y *node) int { return strings.Compare(x.name, y.name) })
		b = append(b, '{')
		for i, c := range sorted {
			b = c.json(append(quote(comma(b, i), c.name), ':'))
		}
		return append(b, '}')
	}
	return n.scalarJSON(b)
}

func (n *node) scalarJSON(b []byte) []byte {
	switch n.shape {
	case isNothing:
		return append(b, "null"...)
	case isBoolean:
		return append(b, strings.ToLower(n.text)...)
	case isInteger:
		if i, err := strconv.ParseInt(n.text, 0, 64); err == nil {
			return strconv.AppendInt(b, i, 10)
		}
	case isDecimal:
		if f, err := strconv.ParseFloat(n.text, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.AppendFloat(b, f, 'g', -1, 64)
		}
	}
	return quote(b, n.text)
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func quote(b []byte, s string) []byte {
	if !plainJSON(s) {
		quoted, _ := json.Marshal(s) // a string always has a JSON form
		return append(b, quoted...)
	}
	return append(append(append(b, '"'), s...), '"')
}

// plainJSON tells whether a text stands in JSON as it is.
func plainJSON(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// keyPath is the path of a key below a mapping.
func keyPath(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

func appendKey(path []byte, name string) []byte {
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

// itemPath is the path of an item of a list.
func itemPath(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

func appendItem(path []byte, i int) []byte {
	return append(strconv.AppendInt(append(path, '['), int64(i), 10), ']')
}

// parentPath drops the last key or item of a path.
func parentPath(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }
