package zone

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// FuzzBuild reads any text as a zone file and as inline records.
func FuzzBuild(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.zone")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if !strings.Contains(file, "generate") { // large on purpose
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ToUpper(text), "$GENERATE") && len(text) > 200 {
			t.Skip("slow, and not for what is read here")
		}
		s := fromText(text)
		s.Services = []ServiceName{addressService("www", 3), addressService("*.vid", 4)}
		z, problems := Build(s)
		lines := strings.Count(text, "\n") + 1
		for _, p := range problems {
			if p.Message == "" || p.Text == 0 && (p.Line < 1 || p.Line > lines || p.Column < 1 || p.Column > len(text)+1) {
				t.Fatalf("problem %+v in a text of %d lines", p, lines)
			}
		}
		if z != nil {
			checkZone(t, z)
		}
	})
}

// checkZone checks what every zone promises.
func checkZone(t *testing.T, z *Zone) {
	t.Helper()
	if z.SOA().Len() != 1 {
		t.Fatalf("%d SOA records", z.SOA().Len())
	}
	var last Name
	for n, node := range z.All() {
		if last != "" && last.Compare(n) >= 0 || !n.Below(z.Origin()) || n != z.Origin() && z.node(n.Parent()) == nil {
			t.Fatalf("%s after %s", n, last)
		}
		last = n
		types := node.Types()
		for i, set := range node.sets {
			if i > 0 && types[i] <= types[i-1] || set.Len() == 0 {
				t.Fatalf("%s: types %v", n, types)
			}
			records := z.Records(node, set)
			if len(records) != set.Len() {
				t.Fatalf("%s: %d of %d records can be read", n, len(records), set.Len())
			}
			for _, rr := range records {
				owner, err := ParseName(rr.Header().Name)
				if h := rr.Header(); err != nil || h.Rrtype != set.Type || h.Ttl != set.TTL || owner != n || h.Class != dns.ClassINET {
					t.Fatalf("%s: %s in the RRset of %d, TTL %d", n, rr, set.Type, set.TTL)
				}
				if _, err := dns.PackRR(rr, make([]byte, 66000), 0, nil, false); err != nil {
					t.Fatalf("%s: %v", rr, err)
				}
			}
		}
		for _, below := range []Name{n, "\x01x" + n, "\x01*" + n} {
			if m := z.Find(below); len(below) <= MaxName && (m.Kind == OutOfZone || m.Node != nil && m.Node.name != m.Owner) {
				t.Fatalf("%s: %+v", below, m)
			}
		}
	}
}

// largeZone has n records at n names.
func largeZone(n int) Spec {
	var b strings.Builder
	b.WriteString("@ NS ns1\nns1 A 192.0.2.53\n")
	for i := range n {
		fmt.Fprintf(&b, "host-%d.rack-%d  300  IN  A  10.%d.%d.%d ; a comment\n", i, i%100, i>>16, i>>8&255, i&255)
	}
	return fromText(b.String())
}

func BenchmarkBuild100k(b *testing.B) {
	s := largeZone(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if z := build(b, s); z.Len() < 100_000 {
			b.Fatal(z.Len())
		}
	}
}

func BenchmarkFind(b *testing.B) {
	s := largeZone(100_000)
	s.Services = []ServiceName{addressService("*.vid", 0)}
	z := build(b, s)
	for _, c := range []struct{ kind, name string }{
		{"exact", "host-77.rack-77.ok.test"}, {"wildcard", "a.b.vid.ok.test"}, {"missing", "a.b.c.d.e.f.g.h.ok.test"},
	} {
		n := name(b, c.name)
		b.Run(c.kind, func(b *testing.B) {
			b.ReportAllocs()
			var m Match
			for b.Loop() {
				m = z.Find(n)
			}
			if m.Kind == OutOfZone {
				b.Fatal(m)
			}
		})
	}
}
