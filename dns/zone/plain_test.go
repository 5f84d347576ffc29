package zone

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzPlain holds the quick way against the record parser: what it takes, both read alike.
func FuzzPlain(f *testing.F) {
	for _, line := range []string{
		"www A 192.0.2.1", "www 300 IN A 192.0.2.1 ; the web", "a.b\t60\tAAAA\t2001:db8::1", "www. A 192.0.2.1", "300 A 192.0.2.1", "IN IN A 192.0.2.1",
		"www 1h A 192.0.2.1", "www IN 300 A 192.0.2.1", "www A 192.0.2.01", "www AAAA ::ffff:192.0.2.1", "www AAAA fe80::1%eth0", "www A", "A A A 192.0.2.1",
		"www 4294967296 A 192.0.2.1", "www.. A 192.0.2.1", "www A 192.0.2.1 192.0.2.2", "-_- 0 A 192.0.2.1;", "www AAAA 192.0.2.1", "www TYPE1 192.0.2.1",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		entries := entries{text: line, line: 1}
		e, ok := entries.next()
		if !ok || e.fault != "" || e.text[0] == '$' {
			return
		}
		p, ok := e.plain(60)
		name, err := ParseRelative(p.owner, "\x02ok\x04test\x00")
		if !ok || err != nil {
			return
		}
		got := p.record()
		b := &builder{spec: Spec{TTL: 60, Texts: make([]Text, 1)}, origin: "\x02ok\x04test\x00", drafts: map[Name]*draft{}}
		r := &reader{b: b, origin: "ok.test.", ttl: 60}
		parser := r.parser(e.text)
		rr, ok := parser.Next()
		if !ok || parser.Err() != nil {
			t.Fatalf("%q: the parser reads nothing, the quick way %+v", line, got)
		}
		owner, want, err := b.pack(rr)
		if err != nil || owner != name || got != want {
			t.Fatalf("%q: the parser reads %s %+v, the quick way %s %+v (%v)", line, owner, want, name, got, err)
		}
	})
}

// The keys by which names are sorted must order them as names are compared, whatever bytes they have.
func TestKeysOrderAsNamesDo(t *testing.T) {
	label := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, '.', 'a', 'b', 255}), 1, 3)
	name := rapid.Custom(func(t *rapid.T) Name {
		n := Root
		for range rapid.IntRange(0, 3).Draw(t, "labels") {
			l := label.Draw(t, "label")
			n = Name(append([]byte{byte(len(l))}, l...)) + n
		}
		return n
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if got, want := bytes.Compare(a.AppendKey(nil), b.AppendKey(nil)), a.Compare(b); got != want {
			t.Fatalf("%s and %s: keys %d, names %d", a, b, got, want)
		}
	})
}
