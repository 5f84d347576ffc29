package sign

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// many is a zone of so many names with an address each.
func many(t testing.TB, names int) *zone.Zone {
	t.Helper()
	var text strings.Builder
	for i := range names {
		fmt.Fprintf(&text, "h%d A 192.0.%d.%d\n", i, i>>8&255, i&255)
	}
	z, problems := zone.Build(zone.Spec{Origin: "ok.test", TTL: 3600, NS: []string{"ns.example."}, Texts: []zone.Text{{Text: text.String()}}})
	if z == nil {
		t.Fatal(problems)
	}
	return z
}

// BenchmarkLoad signs a zone of 100,000 names, which is twice as many signatures: their addresses and their links.
func BenchmarkLoad(b *testing.B) {
	z := many(b, 100_000)
	for _, a := range []Algorithm{ECDSAP256SHA256, Ed25519} {
		folder := b.TempDir()
		for _, denial := range []Denial{NSEC, NSEC3} {
			b.Run(fmt.Sprintf("%s/%d", a, denial), func(b *testing.B) {
				for b.Loop() {
					s := NewSigner(slog.New(slog.DiscardHandler))
					source := Source{Zone: z, Folder: folder, Algorithm: a, Rules: Rules{Denial: denial, Validity: 14 * 24 * time.Hour, KeyTTL: 3600}}
					if _, err := s.Prepare([]Source{source}, noon); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(s.Counts.Loaded.Load()), "signatures")
				}
			})
		}
	}
}

// BenchmarkReload takes the same zone over, with its signatures.
func BenchmarkReload(b *testing.B) {
	s := NewSigner(slog.New(slog.DiscardHandler))
	source := Source{Zone: many(b, 100_000), Folder: b.TempDir(), Algorithm: Ed25519, Rules: Rules{Validity: 14 * 24 * time.Hour, KeyTTL: 3600}}
	for b.Loop() {
		signed, err := s.Prepare([]Source{source}, noon)
		if err != nil {
			b.Fatal(err)
		}
		s.Use(signed)
	}
}

// BenchmarkDenial proves that names do not exist, in a zone of 100,000.
func BenchmarkDenial(b *testing.B) {
	for _, denial := range []Denial{NSEC, NSEC3} {
		s := NewSigner(slog.New(slog.DiscardHandler))
		source := Source{Zone: many(b, 100_000), Folder: b.TempDir(), Algorithm: Ed25519, Rules: Rules{Denial: denial, Validity: 14 * 24 * time.Hour, KeyTTL: 3600}}
		signed, err := s.Prepare([]Source{source}, noon)
		if err != nil {
			b.Fatal(err)
		}
		z := signed.Zone(source.Zone)
		var names []zone.Name
		for i := range 1024 {
			names = append(names, name(b, fmt.Sprintf("no%d.ok.test", i*7919)))
		}
		b.Run(fmt.Sprint(denial), func(b *testing.B) {
			var room [8]*Record
			i := 0
			for b.Loop() {
				i++
				for _, r := range z.Missing(room[:0], names[i%len(names)], source.Zone.Origin()) {
					z.Confirmed(r, uint32(noon.Unix()))
				}
			}
		})
	}
}

// BenchmarkSignature finds the signature of addresses that were foreseen, in another order each time.
func BenchmarkSignature(b *testing.B) {
	s := newScene(b, Rules{})
	t := s.signed().Steered(s.source.Zone.Find(name(b, "www.ok.test")).Node)
	sets := [][]byte{[]byte("\x00\x04aaaa\x00\x04bbbb\x00\x04cccc"), []byte("\x00\x04bbbb\x00\x04cccc\x00\x04aaaa"), []byte("\x00\x04cccc\x00\x04aaaa\x00\x04bbbb")}
	i := 0
	for b.Loop() {
		i++
		t.Signature(name(b, "www.ok.test"), dns.TypeA, sets[i%3], uint32(noon.Unix()))
	}
	if made := s.signer.Counts.Asked.Load(); made != 1 {
		b.Errorf("%d signatures", made)
	}
}
