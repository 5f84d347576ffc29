package config

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// form is what a value may look like. It is both the reader of such a value and its JSON Schema, so
// the two cannot drift apart: whoever adds a key to a table adds it to both.
type form[T any] struct {
	takes  shape  // what a node must be for read to see it
	noun   string // "a duration such as 10s": the end of "must be"
	schema schema
	read   func(r *reader, n *node, to *T) // faults go to r; *to keeps what it had
	fill   func(r *reader, to *T)          // what holds when nothing is given; nil: what is there
}

// apply reads a node of any shape.
func (f form[T]) apply(r *reader, n *node, to *T) {
	if n.shape != unread && n.shape&f.takes != 0 {
		f.read(r, n, to)
		return
	}
	if f.fill != nil {
		f.fill(r, to)
	}
	if n.shape == unread {
		r.spoil(n.path())
		return
	}
	r.refuse(n, f.noun, "")
}

// field is one key of a mapping that is read into a T.
type field[T any] struct {
	name   string
	must   bool
	schema schema
	read   func(r *reader, n *node, to *T)
	fill   func(r *reader, to *T)
}

// key is a field whose value has form f and is kept where at points.
func key[T, V any](name, doc string, f form[V], at func(*T) *V) field[T] {
	s := f.schema
	s.Description = doc
	return field[T]{
		name:   name,
		schema: s,
		read:   func(r *reader, n *node, to *T) { f.apply(r, n, at(to)) },
		fill: func(r *reader, to *T) {
			if f.fill != nil {
				f.fill(r, at(to))
			}
		},
	}
}

// or gives a field its default, written as the operator would write it.
func (f field[T]) or(text string) field[T] {
	n, _ := parseText(Source{Text: []byte(text)}) // a test reads every default
	read := f.read
	f.fill = func(r *reader, to *T) { read(r, n, to) }
	f.schema.Default = n.json(nil)
	return f
}

// required makes a field one that must be given.
func (f field[T]) required() field[T] {
	f.must = true
	return f
}

// object is a mapping of known keys. Fields are read in the order of the table.
func object[T any](noun string, fields ...field[T]) form[T] {
	names := make([]string, len(fields))
	s := schema{Others: &others{}}
	for i, f := range fields {
		names[i] = f.name
		s.Properties = append(s.Properties, property{f.name, f.schema})
		if f.must {
			s.Required = append(s.Required, f.name)
		}
	}
	takes := isMapping
	if s.Required == nil {
		takes |= isNothing
	}
	s.Type = jsonTypes(takes)
	return form[T]{
		takes: takes, noun: "a mapping: " + noun, schema: s,
		read: func(r *reader, n *node, to *T) {
			unknownKeys(r, n, names)
			for _, f := range fields {
				f.from(r, n, to)
			}
		},
		fill: func(r *reader, to *T) {
			for _, f := range fields {
				f.fill(r, to)
			}
		},
	}
}

// from reads the field out of its mapping. The default holds also when what was given is wrong.
func (f field[T]) from(r *reader, parent *node, to *T) {
	n := parent.child(f.name)
	f.fill(r, to)
	switch {
	case n != nil:
		f.read(r, n, to)
	case f.must:
		r.fault(parent, "lacks the key %s", f.name)
	}
}

func unknownKeys(r *reader, n *node, names []string) {
	for _, c := range n.children {
		known := false
		for _, name := range names {
			known = known || c.name == name
		}
		if !known {
			r.fault(c, "unknown key%s", r.meant(c.name, names))
		}
	}
}

// exactlyOne makes an object demand one key of several.
func exactlyOne[T any](f form[T], names ...string) form[T] {
	for _, name := range names {
		f.schema.OneOf = append(f.schema.OneOf, schema{Required: []string{name}})
	}
	f.takes = isMapping
	f.schema.Type = jsonTypes(f.takes)
	read := f.read
	f.read = func(r *reader, n *node, to *T) {
		var first *node
		for _, name := range names {
			switch c := n.child(name); {
			case c == nil:
			case first != nil:
				r.fault(c, "stands beside %s: give one of %s", first.name, strings.Join(names, ", "))
			default:
				first = c
			}
		}
		if first == nil {
			r.fault(n, "needs one of the keys %s", strings.Join(names, ", "))
		}
		read(r, n, to)
	}
	return f
}

// naming is what the keys of a named list may be.
type naming struct {
	noun    string
	pattern *regexp.Regexp
	longest int // letters; 0: as the pattern says
}

func (m naming) check(r *reader, n *node) {
	if !m.pattern.MatchString(n.name) || m.longest > 0 && len(n.name) > m.longest {
		r.fault(n, "%q is not %s", cut(n.name), m.noun)
	}
}

// named is a mapping of the operator's own names, kept as a list in the order of the file.
func named[T any](noun string, m naming, start func(n *node) T, f form[T]) form[[]T] {
	return form[[]T]{
		takes: isMapping | isNothing,
		noun:  "a mapping: " + noun,
		schema: schema{
			Type:   jsonTypes(isMapping | isNothing),
			Names:  &schema{Pattern: m.pattern.String(), MaxLength: m.longest},
			Others: &others{&f.schema},
		},
		read: func(r *reader, n *node, to *[]T) {
			one := func(r *reader, c *node, to *T) {
				m.check(r, c)
				*to = start(c)
				f.apply(r, c, to)
			}
			if items, ok := readAside(r, n.children, one); ok {
				*to = append(*to, items...)
				return
			}
			for _, c := range n.children {
				var item T
				one(r, c, &item)
				*to = append(*to, item)
			}
		},
	}
}

// listOf is a list with items of one form, at least so many.
func listOf[T any](noun string, least int, f form[T]) form[[]T] {
	takes := isList
	if least == 0 {
		takes |= isNothing
	}
	return form[[]T]{
		takes: takes, noun: "a list of " + noun,
		schema: schema{Type: jsonTypes(takes), Items: &f.schema, MinItems: least},
		read: func(r *reader, n *node, to *[]T) {
			if len(n.children) < least {
				r.fault(n, "is empty: it must be a list of %s", noun)
				return
			}
			items := make([]T, 0, len(n.children))
			for _, c := range n.children {
				var item T
				f.apply(r, c, &item)
				items = append(items, item) // also a wrong one: items keep their numbers
			}
			*to = items
		},
	}
}

// setOf is a list that holds nothing twice. Wrong items are left out of it.
func setOf[T comparable](noun string, least int, f form[T]) form[[]T] {
	return setBy(noun, least, f, func(item T) T { return item })
}

// setBy is a list in which no two items are the same by some key.
func setBy[T any, K comparable](noun string, least int, f form[T], by func(T) K) form[[]T] {
	set := listOf(noun, least, f)
	set.schema.UniqueItems = true
	read := set.read
	set.read = func(r *reader, n *node, to *[]T) {
		var items []T
		if read(r, n, &items); len(items) < least {
			return
		}
		kept, first := make([]T, 0, len(items)), make(map[K]*node, len(items))
		for i, c := range n.children {
			if r.bad(c) {
				continue
			}
			same := by(items[i])
			if other := first[same]; other != nil {
				r.fault(c, "%s stands twice in this list: first at %s", cmp.Or(c.text, fmt.Sprint(same)), other.keyPos())
				continue
			}
			first[same] = c
			kept = append(kept, items[i])
		}
		*to = kept
	}
	return set
}

// either is a value of one of several forms, which are told apart by their shapes.
func either[T any](forms ...form[T]) form[T] {
	var whole form[T]
	var nouns []string
	for _, f := range forms {
		whole.takes |= f.takes
		nouns = append(nouns, f.noun)
		whole.schema.AnyOf = append(whole.schema.AnyOf, f.schema)
	}
	whole.noun = strings.Join(nouns, " or ")
	whole.read = func(r *reader, n *node, to *T) {
		if n.scalar() {
			defer func(outer string) { r.wanted = outer }(r.wanted)
			r.wanted = cmp.Or(r.wanted, whole.noun)
		}
		for _, f := range forms {
			if n.shape&f.takes != 0 {
				f.read(r, n, to)
				return
			}
		}
	}
	return whole
}

// part is a form of a part, for a value that is nothing but that part of a larger one.
func part[A, B any](f form[A], at func(*B) *A) form[B] {
	return form[B]{
		takes: f.takes, noun: f.noun, schema: f.schema,
		read: func(r *reader, n *node, to *B) { f.apply(r, n, at(to)) },
	}
}

// of turns a form of A into a form of B, for a value that is kept in another type than it is read in.
func of[A, B any](f form[A], put func(a A, to *B)) form[B] {
	return form[B]{
		takes: f.takes, noun: f.noun, schema: f.schema,
		read: func(r *reader, n *node, to *B) {
			var a A
			if f.read(r, n, &a); !r.bad(n) {
				put(a, to)
			}
		},
	}
}
