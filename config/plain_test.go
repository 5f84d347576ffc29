package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// FuzzPlain holds the plain reader to the parser: a text that it takes is sound, and gives the same tree.
func FuzzPlain(f *testing.F) {
	for _, file := range append(gallery(f, "good"), gallery(f, "bad")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range append(cutTexts, plainTexts...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if says := misread(text); says != "" {
			t.Error(says)
		}
	})
}

// misread says how the plain reader reads a text otherwise than the parser; nothing when it does not, or does not take it.
func misread(text string) string {
	file := "gslb.yaml"
	plain, ok := plainTree(&file, text, 0)
	if !ok {
		return ""
	}
	parsed, ok := parsedTree(&file, []byte(text), 0)
	if !ok {
		return "the parser does not take it"
	}
	return cmp.Diff(outline(parsed), outline(plain))
}

// plainTexts are texts that are plain, all of them.
var plainTexts = []string{
	"a: 1\nb: 10.5\nc: -3\nd: -0.5\ne: 0\n",
	"a: true\nb: False\nc: yes\nd: off\ne: y\nf: nullable\n",
	"a: 10s\ni: 200-299\nj: 2026-12-24\nb: 1h30m\nc: 50%\nd: /ping\ne: 2001:db8::1\nf: 192.0.2.0/24\ng: a:b\nh: 12:30\n",
	"s:\n  a: {b: c, d: [e, {f: \"g: h\"}, []], i: {}}\n  \"@\": x\n  \"*.vid\": y # z\n",
	"# a\n\ns:  # b\n    # c\n    a:\n     b: c\n     d: e\n\n    f: \"\"\nt: [ a , 1 ]\n",
	"a: [1, 2]\n\n\n",
	"a: x-y_z.1\nb: r2d2\n1: 2\nnull: x",
	"s: {check: web, at: {p1: [10.0.0.1], p2: [10.0.0.2]}}\n",
}

// Texts of this kind are what large configurations are made of; that they are taken is what makes them fast.
func TestPlainTextsAreTaken(t *testing.T) {
	for _, text := range append(plainTexts, strings.Split(string(bulk().Text), "zones:")[0]) {
		file := "gslb.yaml"
		if _, ok := plainTree(&file, text, 0); !ok {
			t.Errorf("it is not taken:\n%s", text[:min(len(text), 300)])
		}
		if says := misread(text); says != "" {
			t.Error(says)
		}
	}
}

// TestWordsThatAreNotPlain gives what means something to YAML, each in the places where a value may stand.
func TestWordsThatAreNotPlain(t *testing.T) {
	words := []string{
		"", "~", "null", "-", "- x", "0x1f", "010", "1e3", "1_000", "0b1", "0o7", ".5", "5.", "+1", ".inf", "<<", "&a b", "*a", "!!str 1", "!x y", "|", ">-",
		"'x'", "\"a\\n\"", "\"a\" b", "a b", "a: b", "a #b", "a#b", "?", "? x", "%a", "@a", "`a`", "a:", ":a", "::1", "[a", "{a", "a]", "{a}", "{a:b}", "{a: }", "[a: b]", "[a,]",
		"{a: 1,}", "{a: 1, a: 2}", "{a: 1}b", "[1]:", "12345678901234567890", "1.5.", "0x", "1.2e3", "é", "2026-12-24", "2026-12-24T06:00:00Z", "1:2", "a:b:c", "---", "...", "=", "-1", "--1", "-a",
		"{\"a\":1}", "{ a: 1 }", "[ a , b ]", "a%", "1-", "1/2", "a/b", "0", "-0", "00", "0.0", "{a: {b: {c: {d: {e: {f: {g: {h: {i: j}}}}}}}}}",
	}
	for _, w := range words {
		for _, text := range []string{"k: " + w + "\n", "k: {l: " + w + "}\n", "k: [" + w + "]\n", "k:\n  l: " + w + "\n  m: 1\n", w + ": k\n", "k: " + w, "k:\n  " + w + "\n"} {
			if says := misread(text); says != "" {
				t.Errorf("%q: %s", text, says)
			}
		}
	}
}

// TestPlainLinesAreAsTheParserReadsThem puts lines together as a fuzzer rarely does.
func TestPlainLinesAreAsTheParserReadsThem(t *testing.T) {
	lines := []string{
		"a: 1", "b:", "c: # d", "c:", "d: {e: f}", "e: [x, y]", "f: x # y", "#", "# g", "", "h: \"i\"", "\"j\": k", "l : 1", "m:x", "n", "- o", "p: 10.1", "q:  r",
	}
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(rt, "lines") {
			b.WriteString(strings.Repeat(" ", rapid.IntRange(0, 3).Draw(rt, "indent")))
			b.WriteString(rapid.SampledFrom(lines).Draw(rt, "line") + rapid.SampledFrom([]string{"\n", "\n", "\n", " \n", ""}).Draw(rt, "end"))
		}
		if says := misread(b.String()); says != "" {
			rt.Errorf("%s\n%s", says, b.String())
		}
	})
}

// Many values are read and judged side by side only while nothing is wrong: mistakes in some of them are told in the order
// of the file, as those of few are, and the others are read.
func TestMistakesInManyServicesAreToldInOrder(t *testing.T) {
	for name, tc := range map[string]struct{ old, mistake, want string }{
		"in a form":    {"    ttl: 60\n", "    ttl: x\n", "\"x\" is not a duration such as 10s, 5m or 1h30m"},
		"in a name":    {"    check: web\n", "    check: wep\n", "no check is named wep (did you mean web?)"},
		"in a warning": {"    steer: [geo]\n", "    steer: [datacenters]\n    map: m\n", "is not used: geo is not among the stages of steer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := bulk()
			parts := strings.SplitAfter(string(s.Text), tc.old)
			for _, i := range []int{3990, 10} {
				parts[i] = strings.TrimSuffix(parts[i], tc.old) + tc.mistake
			}
			s.Text = []byte("maps: {m: [{to: nearest}]}\n" + strings.Join(parts, ""))
			c, problems := Parse(s)
			if len(problems) != 2 || !strings.HasPrefix(problems[0].Path, "services.service-10.") || !strings.HasPrefix(problems[1].Path, "services.service-3990.") {
				t.Fatalf("got:\n%s", told(problems))
			}
			for _, p := range problems {
				if !strings.HasPrefix(p.Message, tc.want) {
					t.Errorf("got %q, want %q", p.Message, tc.want)
				}
			}
			if len(c.Services) != 4000 || c.Services[3999].Name != "service-3999" || len(c.Services[3999].At) != 3 {
				t.Error("the others are not read")
			}
		})
	}
}
