package config

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func FuzzParse(f *testing.F) {
	for _, file := range append(gallery(f, "good"), gallery(f, "bad")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte("drains: [{target: msk}]\n"))
	}
	s := compiledSchema(f)
	f.Fuzz(func(t *testing.T, text, dropin []byte) {
		sources := []Source{{"gslb.yaml", text}, {"gslb.yaml.d/a.yaml", dropin}}
		c, ps := Parse(sources...)
		for _, p := range ps {
			if p.Message == "" || p.Pos.File == "" {
				t.Errorf("a problem says %q", p)
			}
		}
		if again, _ := Parse(sources...); again.Hash() != c.Hash() {
			t.Errorf("the hash is %s, then %s", c.Hash(), again.Hash())
		}
		root, faults := parseText(sources[0])
		if faults.Err() != nil {
			return
		}
		if _, ps := read(root); ps.Err() == nil {
			if err := validate(t, s, root); err != nil {
				t.Errorf("it loads, and the schema says: %v", err)
			}
		}
	})
}

// TestAliasBombsCostLittle bounds the memory that a small file can claim.
func TestAliasBombsCostLittle(t *testing.T) {
	bomb := func(first, format string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "maps:\n  m0: &m0 %s\n", first)
		for i := range 40 {
			fmt.Fprintf(&b, "  m%d: &m%d "+format+"\n", i+1, i+1, i, i, i, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"lists":      bomb("[x]", "[*m%d, *m%d, *m%d, *m%d]"),
		"mappings":   bomb("{a: b}", "{a: *m%d, b: *m%d, c: *m%d, d: *m%d}"),
		"merge keys": bomb("{a: b}", "{<<: [*m%d, *m%d, *m%d, *m%d]}"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, ps := Parse(Source{"gslb.yaml", []byte(text)})
		runtime.ReadMemStats(&after)
		if !strings.Contains(told(ps), "stand for more than 200000 values") {
			t.Errorf("%s: it is not refused as too much:\n%.300s", name, told(ps))
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 150 {
			t.Errorf("%s: it cost %d MiB", name, used)
		}
	}
}

func TestManyUnknownNamesDoNotTakeForever(t *testing.T) {
	var b strings.Builder
	b.WriteString("datacenters: {msk: {}}\nchecks:\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  check-%d: {http: {}}\n", i)
	}
	b.WriteString("services:\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  service-%d: {check: chek-%d, at: {msk: [192.0.2.1]}}\n", i, i)
	}
	_, ps := Parse(Source{"gslb.yaml", []byte(b.String())})
	if len(ps) != 5000 {
		t.Errorf("%d problems, want one a service", len(ps))
	}
	if first := ps[0].Message; first != "no check is named chek-0 (did you mean check-0?)" {
		t.Errorf("the first says %q", first)
	}
}

func TestParsesFiftyThousandLines(t *testing.T) {
	c, ps := Parse(bulk())
	if err := ps.Err(); err != nil {
		t.Fatal(err)
	}
	if len(c.Places) != 2000 || len(c.Services) != 4000 || len(c.Services[3999].At) != 3 {
		t.Errorf("%d places, %d services", len(c.Places), len(c.Services))
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"interval", "timeout", "window", "fall", "rise", "msk-1", "msk-2", "сайт"}
	for word, want := range map[string]string{
		"intervall": "interval", "Timeout": "timeout", "timoeut": "timeout", "wnidow": "window", "windows": "window",
		"fal": "fall", "msk1": "msk-1", "msk-3": "msk-1", "colour": "", "": "", "in": "", "сайи": "сайт",
		strings.Repeat("x", 1000): "",
	} {
		if got := Suggest(word, known); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", word, got, want)
		}
	}
}

// TestEditsAreAsTheDefinitionCounts compares the table of edits with the plain recursion.
func TestEditsAreAsTheDefinitionCounts(t *testing.T) {
	var slow func(a, b string) int
	slow = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		change := slow(a[1:], b[1:])
		if a[0] != b[0] {
			change++
		}
		least := min(change, slow(a[1:], b)+1, slow(a, b[1:])+1)
		if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
			least = min(least, slow(a[2:], b[2:])+1)
		}
		return least
	}
	words := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := words.Draw(rt, "a"), words.Draw(rt, "b")
		if got, want := edits(a, b), slow(a, b); got != want {
			rt.Errorf("edits(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

func TestSyntaxErrorIsToldWhereItStands(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"bracket on the first line", "server: [\n", "1:1: is not YAML: did not find expected node content"},
		{"wrong bracket", "a: 1\nb: 2\nc: {d: [}\n", "3:1: is not YAML: did not find expected node content"},
		{"open bracket", "a: 1\nb: [1, 2\nc: 3\n", "2:1: is not YAML: did not find expected ',' or ']'"},
		{"key further left", "a:\n  b:\n    c: d\n    e: f\n   g: h\ni: j\n", "5:4: is not YAML: did not find expected key"},
		{"item further left", "a:\n  - b\n  - c\n - d\n", "4:2: is not YAML: did not find expected key"},
		{"key beside items", "a:\n  - b\n  c: d\ne: f\n", "3:3: is not YAML: did not find expected '-' indicator"},
		{"key further right", "a:\n  b: c\n    d: e\n", "3:5: is not YAML: mapping values are not allowed in this context"},
		{"key without a colon", "a: b\nc\nd: e\n", "2:1: is not YAML: could not find expected ':'"},
		{"open quote", "a: b\nc: \"d\ne: f\n", "2:1: is not YAML: found unexpected end of stream"},
		{"unknown anchor", "a: b\nc: *d\n", "2:1: is not YAML: unknown anchor 'd' referenced"},
		{"large text", "a:\n  b: c\n d: e\nf: " + strings.Repeat("g", maxSought), "3:2: is not YAML: did not find expected key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ps := parseText(Source{Text: []byte(c.text)})
			if got := strings.TrimPrefix(told(ps), ":"); got != c.want+"\n" {
				t.Errorf("got %swant %s", got, c.want)
			}
		})
	}
}

func TestDurationsReadAsTheyAreWritten(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"0s": 0, "10s": 10 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "2h": 2 * time.Hour,
		"500ms": 500 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "1h0m5s": time.Hour + 5*time.Second, "24h": 24 * time.Hour,
	} {
		if got := Duration(d); got != text {
			t.Errorf("Duration(%d) = %s, want %s", d, got, text)
		}
		if got, err := parseDuration(text); err != nil || got != d {
			t.Errorf("parseDuration(%q) = %v, %v, want %v", text, got, err, d)
		}
	}
	for text, d := range map[string]time.Duration{"1d": 24 * time.Hour, "90s": 90 * time.Second, "0.5h": 30 * time.Minute} {
		if got, err := parseDuration(text); err != nil || got != d {
			t.Errorf("parseDuration(%q) = %v, %v, want %v", text, got, err, d)
		}
	}
	for _, text := range []string{"", "s", "10", "10 s", "-1s", "1w", "1e3s", "s1", "1s ", "10S"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("parseDuration(%q) = %v, want an error", text, got)
		}
	}
}

func TestProblemsAreSortedByFileThenPlace(t *testing.T) {
	_, ps := Load("testdata/bad/many.yaml")
	if !slices.IsSortedFunc(ps, func(a, b Problem) int { return comparePlace(a.Pos, b.Pos) }) {
		t.Errorf("out of order:\n%s", told(ps))
	}
	if got, want := strings.Count(ps.Err().Error(), "\n")+1, len(ps)-len(ps.Warnings()); got != want {
		t.Errorf("the error has %d lines, want %d", got, want)
	}
}

func TestWarningsAloneAreNoError(t *testing.T) {
	_, ps := Load("testdata/good/warnings.yaml")
	if len(ps.Warnings()) == 0 || ps.Err() != nil {
		t.Errorf("%d warnings, error %v", len(ps.Warnings()), ps.Err())
	}
}

func TestShareOfRoundsUp(t *testing.T) {
	for _, tc := range []struct {
		share   Share
		n, want int
	}{{Share{Count: 1}, 4, 1}, {Share{Count: 9}, 4, 4}, {Share{Percent: 50}, 3, 2}, {Share{Percent: 1}, 4, 1}, {Share{Percent: 100}, 4, 4}} {
		if got := tc.share.Of(tc.n); got != tc.want {
			t.Errorf("%+v of %d is %d, want %d", tc.share, tc.n, got, tc.want)
		}
	}
}
