package zone

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

func TestReadsNames(t *testing.T) {
	long := strings.Repeat("a", 63)
	four := long + "." + long + "." + long + "." + strings.Repeat("a", 61)
	tests := []struct{ in, wire, out, fault string }{
		{in: "ok.test", wire: "\x02ok\x04test\x00", out: "ok.test."},
		{in: "OK.Test.", wire: "\x02ok\x04test\x00", out: "ok.test."},
		{in: ".", wire: "\x00", out: "."},
		{in: `a\.b.c`, wire: "\x03a.b\x01c\x00", out: `a\.b.c.`},
		{in: `a\046b.c`, wire: "\x03a.b\x01c\x00", out: `a\.b.c.`},
		{in: `\065\\\"`, wire: "\x03a\\\"\x00", out: `a\\\".`},
		{in: `\000\255 $@();`, wire: "\x08\x00\xff $@();\x00", out: `\000\255\032\$\@\(\)\;.`},
		{in: "münchen", wire: "\x08m\xc3\xbcnchen\x00", out: `m\195\188nchen.`},
		{in: "*.vid", wire: "\x01*\x03vid\x00", out: "*.vid."},
		{in: long, wire: "\x3f" + long + "\x00", out: long + "."},
		{in: four, wire: "\x3f" + long + "\x3f" + long + "\x3f" + long + "\x3d" + four[:61] + "\x00", out: four + "."},
		{in: four + ".", wire: "\x3f" + long + "\x3f" + long + "\x3f" + long + "\x3d" + four[:61] + "\x00", out: four + "."},
		{in: "", fault: "empty"},
		{in: "..", fault: "label is empty"},
		{in: "a..b", fault: "label is empty"},
		{in: ".a", fault: "label is empty"},
		{in: long + "a", fault: "63"},
		{in: four + "a", fault: "255"},
		{in: four + "a.", fault: "255"},
		{in: four + ".a", fault: "255"},
		{in: strings.Repeat("a.", 128), fault: "255"},
		{in: `a\`, fault: "backslash"},
		{in: `a\2`, fault: "backslash"},
		{in: `a\25x`, fault: "backslash"},
		{in: `a\256`, fault: "backslash"},
	}
	for _, tt := range tests {
		got, err := ParseName(tt.in)
		if tt.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%q: %q, %v; want an error about %s", tt.in, got, err, tt.fault)
			}
			continue
		}
		if err != nil || string(got) != tt.wire || got.String() != tt.out {
			t.Errorf("%q: %q %s, %v; want %q %s", tt.in, string(got), got, err, tt.wire, tt.out)
		}
	}
}

func TestRelativeNames(t *testing.T) {
	origin := name(t, "ok.test")
	for in, want := range map[string]string{"@": "ok.test.", "www": "www.ok.test.", "www.": "www.", "*.vid": "*.vid.ok.test.", `\@`: `\@.ok.test.`} {
		if got, err := ParseRelative(in, origin); err != nil || got.String() != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	if got, err := ParseRelative(strings.Repeat("a.", 123)+"a", origin); err == nil {
		t.Errorf("%s is too long", got)
	}
	if got, err := ParseRelative("@", Root); err != nil || got != Root {
		t.Errorf("the root: %s, %v", got, err)
	}
}

func TestRelations(t *testing.T) {
	n := name(t, "a.b.ok.test")
	if got := n.Parent(); got != name(t, "b.ok.test") {
		t.Errorf("parent %s", got)
	}
	if Root.Parent() != Root || Root.Labels() != 0 || n.Labels() != 4 {
		t.Error("root or labels")
	}
	for o, want := range map[Name]bool{
		n: true, Root: true, name(t, "test"): true, name(t, "b.ok.test"): true, "": false,
		name(t, "k.test"): false, name(t, "x.a.b.ok.test"): false, name(t, "c.ok.test"): false,
	} {
		if got := n.Below(o); got != want {
			t.Errorf("%s below %q: %t", n, string(o), got)
		}
	}
	// A label that holds what looks like the wire form of the end.
	if trick := Name("\x0bx\x02ok\x04test\x00\x00"); trick.Below(name(t, "ok.test")) {
		t.Error("a label's content was taken for labels")
	}
	for s, want := range map[string]bool{"*": true, "*.a": true, "**.a": false, "a.*": false, ".": false} {
		if got := name(t, s).Wildcard(); got != want {
			t.Errorf("%s wildcard: %t", s, got)
		}
	}
	if got := testing.AllocsPerRun(100, func() { _ = n.Parent().Below(Root) && n.Compare(Root) > 0 }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestReadsNamesFromPackets(t *testing.T) {
	tests := []struct {
		in    string
		want  Name
		n     int
		fault error
	}{
		{"\x02OK\x04tEsT\x00rest", "\x02ok\x04test\x00", 9, nil},
		{"\x00", Root, 1, nil},
		{"", "", 0, errShort},
		{"\x02ok", "", 0, errShort},
		{"\x02ok\x09test\x00", "", 0, errShort},
		{"\x02ok\xc0\x0c", "", 0, errCompressed},
		{"\x40" + strings.Repeat("a", 64) + "\x00", "", 0, errCompressed},
		{strings.Repeat("\x01a", 127) + "\x00", Name(strings.Repeat("\x01a", 127) + "\x00"), 255, nil},
		{strings.Repeat("\x01a", 128) + "\x00", "", 0, errLongWire},
	}
	for _, tt := range tests {
		got, n, err := nameFromWire([]byte(tt.in))
		if got != tt.want || n != tt.n || err != tt.fault {
			t.Errorf("%q: %q, %d, %v; want %q, %d, %v", tt.in, string(got), n, err, string(tt.want), tt.n, tt.fault)
		}
	}
}

// TestCompareEqualsItsSlowTwin compares lists of labels from the right.
func TestCompareEqualsItsSlowTwin(t *testing.T) {
	names := rapid.Custom(func(t *rapid.T) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "aa", "*", "\x00", "\xff"}), 0, 4).Draw(t, "labels")
	})
	wire := func(labels []string) Name {
		var n Name
		for _, l := range labels {
			n += Name(rune(len(l))) + Name(l)
		}
		return n + Root
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := names.Draw(t, "a"), names.Draw(t, "b")
		got := wire(a).Compare(wire(b))
		slices.Reverse(a)
		slices.Reverse(b)
		if want := slices.Compare(a, b); got != want {
			t.Errorf("%q and %q: %d, want %d", a, b, got, want)
		}
	})
}

func TestNextName(t *testing.T) {
	label := func(octet string, n int) string { return strings.Repeat(octet, n) }
	deep := strings.Repeat(label("a", 63)+".", 3) // 192 octets
	last := strings.Repeat(label(`\255`, 63)+".", 3)
	for _, tc := range []struct{ why, name, want string }{
		{"a label of one zero before it", "www.ok.test.", `\000.www.ok.test.`},
		{"a label before the longest that has room for it", label("b", 51) + "." + deep + "ok.test.", `\000.` + label("b", 51) + "." + deep + "ok.test."},
		{"an octet more", label("b", 52) + "." + deep + "ok.test.", label("b", 52) + `\000.` + deep + "ok.test."},
		{"the next octet", label("b", 53) + "." + deep + "ok.test.", label("b", 52) + "c." + deep + "ok.test."},
		{"no upper case", label("b", 52) + `\064.` + deep + "ok.test.", label("b", 52) + "[." + deep + "ok.test."},
		{"the last octets away", label("b", 51) + `\255\255.` + deep + "ok.test.", label("b", 50) + "c." + deep + "ok.test."},
		{"a label that cannot be longer", label("b", 63) + "." + deep[64:] + label("c", 52) + ".ok.test.", label("b", 62) + "c." + deep[64:] + label("c", 52) + ".ok.test."},
		{"the label above", label(`\255`, 53) + "." + deep + "ok.test.", label("a", 62) + "b." + label("a", 63) + "." + label("a", 63) + ".ok.test."},
		{"the origin behind the last", label(`\255`, 53) + "." + last + "ok.test.", "ok.test."},
	} {
		n, origin, want := name(t, tc.name), name(t, "ok.test."), name(t, tc.want)
		got := Name(n.AppendNext(nil, origin))
		if got != want {
			t.Errorf("%s: %d octets, %s\ngot  %s\nwant %s", tc.why, len(n), n, got, want)
		}
		if (n.Compare(got) < 0) == (got == origin) {
			t.Errorf("%s: %s does not follow %s", tc.why, got, n)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, seed := range []string{".", "@", "ok.test", `a\.b\032.C`, `\`, "a..b", strings.Repeat("a.", 127), `*.vid.`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseName(s)
		if err != nil {
			return
		}
		if again, err := ParseName(n.String()); err != nil || again != n {
			t.Fatalf("%q: %q became %q, %v", s, string(n), string(again), err)
		}
		wire, size, err := nameFromWire([]byte(n))
		if err != nil || wire != n || size != len(n) {
			t.Fatalf("%q: wire form %q, %d, %v", s, string(wire), size, err)
		}
		// The DNS library reads it the same way.
		var buf [300]byte
		end, err := dns.PackDomainName(n.String(), buf[:], 0, nil, false)
		if err != nil || string(buf[:end]) != string(n) {
			t.Fatalf("%q: the library packs %q, %v", s, buf[:end], err)
		}
	})
}

func FuzzNameFromWire(f *testing.F) {
	for _, seed := range []string{"\x00", "\x02OK\x04test\x00x", "\x02ok\xc0\x0c", "\x3f", strings.Repeat("\x01a", 128)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, size, err := nameFromWire(b)
		if err != nil {
			return
		}
		if size != len(n) || len(n) > 255 || !strings.EqualFold(strings.ToValidUTF8(string(n), ""), strings.ToValidUTF8(string(b[:size]), "")) {
			t.Fatalf("%q: %q, %d", b, string(n), size)
		}
		if again, err := ParseName(n.String()); err != nil || again != n {
			t.Fatalf("%q: %s became %q, %v", b, n, string(again), err)
		}
		if want, _, err := dns.UnpackDomainName(b, 0); err != nil || !strings.EqualFold(dns.Fqdn(want), want) {
			t.Fatalf("%q: the library reads %q, %v", b, want, err)
		}
	})
}
