package zone

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestHostileTexts: whatever a file holds, it is refused in few words, soon, and in little more memory than it has itself.
func TestHostileTexts(t *testing.T) {
	const size = 2 << 20 // twice the longest entry
	for _, c := range []struct{ name, text, want string }{
		{"a line without end", "a TXT \"" + strings.Repeat("x", size) + "\"\n", "this quote is never closed"},
		{"a word without end", strings.Repeat("x", size), "this entry is over 1 MiB long"},
		{"parentheses without end", "a A " + strings.Repeat("( ", size/2), "this parenthesis is never closed"},
		{"an open parenthesis on each line", strings.Repeat("a A (\n", size/6), "this parenthesis is never closed"},
		{"a quote on each line", strings.Repeat("a TXT \"\n", size/32+1), "this quote is never closed"},
		{"one record again and again", strings.Repeat("a A 192.0.2.1\n", size/32) + "b A\n", "repeats line 1 and is given once"},
		{"empty lines", strings.Repeat("\n", size) + "b A\n", "A"},
		{"zeros", strings.Repeat("\x00", size), "this entry is over 1 MiB long"},
		{"noise", strings.Repeat("\xff\x80(;\\\"\n$", size/8), "cannot be read; the rest of this text was left out"},
		{"files within files", strings.Repeat("$INCLUDE a.zone\n", size/16), "$INCLUDE is not supported"},
		{"records out of nothing", strings.Repeat("$GENERATE 0-65535 a$ TXT"+strings.Repeat(` "`+strings.Repeat("x", 255)+`"`, 16)+"\n", 100), "$GENERATE makes more than 16 MiB of records in this zone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			z, problems := Build(Spec{Origin: "ok.test", TTL: 60, NS: []string{"ns1"}, Texts: []Text{{File: "a.zone", Line: 1, Text: c.text}}})
			took := time.Since(begin)
			runtime.ReadMemStats(&after)
			told := ""
			for _, p := range problems {
				told += p.Message + "\n"
			}
			if z != nil || !strings.Contains(told, c.want) || len(problems) > maxTold+100 || len(told) > 200_000 {
				t.Errorf("built %v, %d problems, of %d bytes: %.300s", z != nil, len(problems), len(told), told)
			}
			if spent := after.TotalAlloc - before.TotalAlloc; spent > 384<<20 { // all together: much of it is garbage long before the end
				t.Errorf("%d MB were allocated for a text of %d MB", spent>>20, len(c.text)>>20)
			}
			if took > time.Minute { // seconds on an idle machine
				t.Errorf("took %v", took)
			}
		})
	}
}

// After a line that is too long the next one is read as what it is, and a comment may be of any length.
func TestGoesOnAfterALongEntry(t *testing.T) {
	text := "ns1 A 192.0.2.1\n;" + strings.Repeat(" a", 2<<20) + "\n" + strings.Repeat("x", 3<<20) + "\nb A 192.0.2.300\n"
	_, problems := Build(Spec{Origin: "ok.test", TTL: 60, NS: []string{"ns1"}, Texts: []Text{{File: "a.zone", Line: 1, Text: text}}})
	if len(problems) != 2 || problems[0].Line != 3 || problems[1].Line != 4 {
		t.Errorf("%+v, want one of line 3 and one of line 4", problems)
	}
}
