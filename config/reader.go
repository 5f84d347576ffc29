package config

import (
	"fmt"
	"sync/atomic"
)

// reader is one reading of a tree: it collects what is wrong and goes on.
type reader struct {
	main       string     // the main file: where the paths of defaults start
	processors Processors // for what is many
	problems   Problems
	spoilt     map[string]bool // paths at or below which something is wrong
	suggested  int
	wanted     string // what the value that is read may be, where that is more than its form knows
}

// fault notes that something is wrong with a node.
func (r *reader) fault(n *node, format string, args ...any) {
	r.problems = append(r.problems, Problem{Pos: n.keyPos(), Path: n.path(), Message: fmt.Sprintf(format, args...)})
	r.spoil(n.path())
}

// refuse notes that a node is not what it must be.
func (r *reader) refuse(n *node, noun, hint string) {
	if r.wanted != "" {
		noun = r.wanted
	}
	if n.shape == isNothing {
		r.fault(n, "has no value: it must be %s", noun)
		return
	}
	r.fault(n, "must be %s, not %s%s", noun, n.given(), hint)
}

// spoil marks a path and all above it, so that nobody draws conclusions from what was not read.
func (r *reader) spoil(path string) {
	for ; path != "" && !r.spoilt[path]; path = parentPath(path) {
		r.spoilt[path] = true
	}
}

// bad tells whether something is wrong with a node, or below it.
func (r *reader) bad(n *node) bool { return len(r.spoilt) > 0 && r.spoilt[n.path()] }

// meant is the end of a message about an unknown word: what may have been meant, or nothing.
func (r *reader) meant(word string, known []string) string {
	const enough = 200 // suggestions in one reading: they cost time, and nobody reads more
	if r.suggested >= enough {
		return ""
	}
	r.suggested++
	near := Suggest(word, known)
	if near == "" {
		return ""
	}
	return " (did you mean " + near + "?)"
}

// aside is how many values are read or judged together where many are side by side.
const aside = 1024

// readAside reads many nodes side by side, and tells whether that could be done: they are many, and nothing is wrong with
// them. What is wrong is told in the order of the file, by who reads them one after another.
func readAside[T any](r *reader, nodes []*node, read func(r *reader, n *node, to *T)) ([]T, bool) {
	if r.processors <= 1 || len(nodes) < 2*aside {
		return nil, false
	}
	items := make([]T, len(nodes))
	return items, r.processors.eachAside(len(nodes), func(first, end int) bool {
		own := &reader{main: r.main, spoilt: map[string]bool{}, wanted: r.wanted}
		for i := first; i < end; i++ {
			read(own, nodes[i], &items[i])
		}
		return len(own.problems) == 0 && len(own.spoilt) == 0
	})
}

// eachAside does something for the numbers below n, piece by piece, until one of the pieces is not sound.
func (by Processors) eachAside(n int, sound func(first, end int) bool) bool {
	var bad atomic.Bool
	by.Each((n+aside-1)/aside, func(i int) {
		if !bad.Load() && !sound(i*aside, min(n, (i+1)*aside)) {
			bad.Store(true)
		}
	})
	return !bad.Load()
}
