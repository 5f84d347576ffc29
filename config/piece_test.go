package config

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// FuzzPieces holds the two ways of reading together: a text that is read piece by piece gives the tree of the whole,
// and nothing is wrong with it.
func FuzzPieces(f *testing.F) {
	for _, file := range append(gallery(f, "good"), gallery(f, "bad")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), uint16(1))
	}
	for _, text := range cutTexts {
		f.Add(text, uint16(1))
	}
	f.Fuzz(func(t *testing.T, text string, size uint16) {
		if says := differ(text, int(size)+1); says != "" {
			t.Error(says)
		}
	})
}

// differ says how a text reads otherwise in pieces; nothing when it does not, or is not read so.
func differ(text string, size int) string {
	s := Source{File: "gslb.yaml", Text: []byte(text)}
	root, ok := Processors(2).parsePieces(s, size)
	if !ok {
		return ""
	}
	whole, problems := parseWhole(s)
	if len(problems) > 0 {
		return "read in pieces, and the whole says:\n" + told(problems)
	}
	return cmp.Diff(outline(whole), outline(root))
}

// TestPiecesOfAnyLinesAreTheWhole puts lines together as a fuzzer rarely does.
func TestPiecesOfAnyLinesAreTheWhole(t *testing.T) {
	lines := []string{
		"a: 1", "b:", "c: # d", "d: {", "e: [x", "f: |", "g: >2", "h: 'x", "}", "]", "'", "- x", "- i: 1", "x", "? y", ": z", "#", "", "j: x: y", "k: {l: m}", "---", "<<: {n: 1}", "'o': 1",
	}
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(2, 9).Draw(rt, "lines") {
			b.WriteString(strings.Repeat(" ", rapid.IntRange(0, 3).Draw(rt, "indent")))
			b.WriteString(rapid.SampledFrom(lines).Draw(rt, "line") + "\n")
		}
		if says := differ(b.String(), 1); says != "" {
			rt.Errorf("%s\n%s", says, b.String())
		}
	})
}

// outline is a tree as text, with all that a node says.
func outline(n *node) string {
	var b strings.Builder
	var walk func(n *node)
	walk = func(n *node) {
		fmt.Fprintf(&b, "%s = %s %q at %s, key at %s\n", n.path(), n.shape, n.text, n.valuePos(), n.keyPos())
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

// cutTexts are texts in which a line looks as if the text could be cut before it.
var cutTexts = []string{
	"a: 1\nb: 2\nc: 3\n",
	"s:\n  a: 1\n  b: 2\n  c: {d: e,\n  f: g}\n  h: i\n",
	"s:\n  a: |\n    x: 1\n    y: 2\n  b: >-\n    c: 1\nd: 1\n",
	"s: |\n  a: 1\n  b: 2\n",
	"s:\n  a: \"x\n  b: y\"\n  c: 1\n",
	"a: 'x\nb: y'\nc: 1\n",
	"s:\n    a: 1\n    b: 2\n  c: 1\n",
	"s:\n  a: 1\n\n  # c: 2\n  d: 3\n\n\ne: 4\n",
	"s:\n  - a: 1\n    b: 2\n  - c: 3\n    d: 4\n",
	"s:\n- a: 1\n  b: 2\nt: 3\n",
	"---\na: 1\nb: 2\n",
	"a: 1\n---\nb: 2\n",
	"a: 1\n...\nb: 2\n",
	"%YAML 1.1\n---\na: 1\nb: 2\n",
	"a: &x 1\nb: *x\nc: 2\n",
	"a: 1\nb: 2\na: 3\n",
	"s:\n  a: 1\n  b: 2\ns:\n  c: 3\n",
	"s:\n  a: 1\n  b: 2\n  a: 3\n",
	"<<: {a: 1, b: 2}\na: 3\nc: 4\n",
	"? a\nb: 1\nc: 2\n",
	"a: b\n c: d\ne: f\n",
	"a:\n\tb: 1\nc: 2\n",
	"a: 1\r\nb: 2\r\nc: 3\n",
	"a: 1\u2028b: 2\nc: 3\nd: 4\n",
	"\ufeffa: 1\nb: 2\nc: 3\n",
	"s: # all\n  a: 1\n  b: 2\nt:\n  c: 3\n  d: 4\n",
	"s:\n  a: 1\n  # x\n  b:\n    c: 1\n    d: 2\n  e: 3\n",
	"{a: 1,\nb: 2}\n",
	"{}\n0:",
	"  a: 1\nb: 2\n",
	"s:\n  a: !!str 1\n  b: 2\n",
	"s:\n  a: x\n   y: z\n  b: 1\n",
	"s:\n  null: 1\n  1: 2\n  b: 3\n",
}

// Large texts of the usual kind are read in pieces, cut inside their sections; that is what makes them fast.
func TestLargeTextsAreReadInPieces(t *testing.T) {
	s := bulk()
	if parts := pieces(s.Text, pieceSize); len(parts) < 3 {
		t.Errorf("%d bytes are cut into %d pieces", len(s.Text), len(parts))
	}
	root, ok := Processors(2).parsePieces(s, 16<<10)
	if !ok {
		t.Fatal("it is not read in pieces")
	}
	if whole, _ := parseWhole(s); outline(whole) != outline(root) {
		t.Error("the pieces give another tree")
	}
}

// A mistake in a large text is told as one in a small text is.
func TestMistakesInLargeTextsAreToldOfTheWhole(t *testing.T) {
	for name, last := range map[string]string{
		"a key twice":    "datacenters:\n",
		"an open quote":  "bgp: {router_id: \"192.0.2.1}\n",
		"an alias":       "maps: *m\n",
		"a tab":          "bgp:\n\tasn: 1\n",
		"a second text":  "---\nbgp: {}\n",
		"a sound ending": "bgp: {asn: 1, router_id: 192.0.2.1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := bulk()
			s.Text = append(s.Text, last...)
			want, problems := parseWhole(s)
			root, got := parseText(s)
			if diff := cmp.Diff(told(problems), told(got)); diff != "" {
				t.Error(diff)
			}
			if outline(want) != outline(root) {
				t.Error("the trees differ")
			}
		})
	}
}
