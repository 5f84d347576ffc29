package zone

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

// name reads a name that is known to be well formed.
func name(t interface{ Fatal(...any) }, s string) Name {
	n, err := ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wildcardZone has the names of the example in RFC 4592 section 2.2.1.
const wildcardZone = `
@                 SOA   ns.example.com. hostmaster 1 2 3 4 5
@                 NS    ns.example.com.
@                 NS    ns.example.net.
*                 TXT   "this is a wildcard"
*                 MX    10 host1
sub.*             TXT   "this is not a wildcard"
host1             A     192.0.2.1
_ssh._tcp.host1   SRV   0 0 22 host1
_ssh._tcp.host2   SRV   0 0 22 host1
subdel            NS    ns.example.com.
subdel            NS    ns.example.net.
`

func TestFollowsTheWildcardExampleOfRFC4592(t *testing.T) {
	s := fromText(wildcardZone)
	s.Origin = "example"
	z := build(t, s)
	tests := []struct {
		name     string
		rrtype   uint16
		kind     MatchKind
		owner    string
		encloser string
		has      bool
	}{
		{"host3.example", dns.TypeMX, Wildcard, "*.example", "example", true},
		{"host3.example", dns.TypeA, Wildcard, "*.example", "example", false},
		{"foo.bar.example", dns.TypeTXT, Wildcard, "*.example", "example", true},
		{"host1.example", dns.TypeMX, Exact, "host1.example", "host1.example", false},
		{"sub.*.example", dns.TypeMX, Exact, "sub.*.example", "sub.*.example", false},
		{"_telnet._tcp.host1.example", dns.TypeSRV, Missing, "", "_tcp.host1.example", false},
		{"host.subdel.example", dns.TypeA, Delegation, "subdel.example", "subdel.example", false},
		{"ghost.*.example", dns.TypeMX, Missing, "", "*.example", false},
		// The names that exist without data, the wildcard itself, and the edges.
		{"_tcp.host2.example", dns.TypeTXT, Exact, "_tcp.host2.example", "_tcp.host2.example", false},
		{"host2.example", dns.TypeMX, Exact, "host2.example", "host2.example", false},
		{"*.example", dns.TypeMX, Exact, "*.example", "*.example", true},
		{"a.b.ghost.*.example", dns.TypeMX, Missing, "", "*.example", false},
		{"example", dns.TypeNS, Exact, "example", "example", true},
		{"subdel.example", dns.TypeDS, Delegation, "subdel.example", "subdel.example", false},
		{"com", dns.TypeA, OutOfZone, "", "", false},
		{"notexample", dns.TypeA, OutOfZone, "", "", false},
		{".", dns.TypeA, OutOfZone, "", "", false},
	}
	for _, tt := range tests {
		m := z.Find(name(t, tt.name))
		has := false
		if m.Node != nil && m.Kind != Delegation {
			_, has = m.Node.Set(tt.rrtype)
		}
		got := fmt.Sprintf("kind %d owner %s encloser %s has %t", m.Kind, m.Owner, m.Encloser, has)
		var owner, encloser Name
		if tt.owner != "" {
			owner = name(t, tt.owner)
		}
		if tt.encloser != "" {
			encloser = name(t, tt.encloser)
		}
		want := fmt.Sprintf("kind %d owner %s encloser %s has %t", tt.kind, owner, encloser, tt.has)
		if got != want {
			t.Errorf("%s %s: %s, want %s", tt.name, dns.Type(tt.rrtype), got, want)
		}
	}
}

// depthZone has wildcards at several depths, services, a delegation with glue, and a DNAME.
func depthZone() Spec {
	s := fromText(`
ns1           A     192.0.2.53
a.b.c         A     192.0.2.1
*.c           CNAME elsewhere.example.
*.x.b.c       A     192.0.2.2
sub           NS    ns.sub
sub           NS    ns.far.sub
sub           DS    1 13 2 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20
ns.sub        A     192.0.2.3
ns.sub        AAAA  2001:db8::3
ns.far.sub    A     192.0.2.4
@             MX    10 ns1
old           DNAME new.example.
old           TXT   "the owner itself stays"
`)
	s.NS = []string{"ns1"}
	s.Services = []ServiceName{addressService("www", 7), addressService("*.vid", 8), addressService("deep.er", 9)}
	return s
}

func TestFindsServicesWildcardsAndCuts(t *testing.T) {
	z := build(t, depthZone())
	tests := []struct {
		name    string
		kind    MatchKind
		owner   string
		service int
	}{
		{"www", Exact, "www", 7},
		{"x.www", Missing, "", -1},
		{"one.vid", Wildcard, "*.vid", 8},
		{"two.one.vid", Wildcard, "*.vid", 8},
		{"*.vid", Exact, "*.vid", 8},
		{"vid", Exact, "vid", -1},
		{"er", Exact, "er", -1},
		{"deep.er", Exact, "deep.er", 9},
		{"c", Exact, "c", -1},
		{"b.c", Exact, "b.c", -1},
		{"z.c", Wildcard, "*.c", -1},
		{"z.z.z.c", Wildcard, "*.c", -1},
		{"z.b.c", Missing, "", -1},
		{"x.b.c", Exact, "x.b.c", -1},
		{"z.x.b.c", Wildcard, "*.x.b.c", -1},
		{"z.*.c", Missing, "", -1},
		{"sub", Delegation, "sub", -1},
		{"ns.sub", Delegation, "sub", -1},
		{"far.sub", Delegation, "sub", -1},
		{"x.y.z.ns.far.sub", Delegation, "sub", -1},
		{"old", Exact, "old", -1},
		{"x.old", DNAME, "old", -1},
		{"x.y.old", DNAME, "old", -1},
		{"missing", Missing, "", -1},
	}
	for _, tt := range tests {
		m := z.Find(name(t, tt.name+".ok.test"))
		var owner Name
		if tt.owner != "" {
			owner = name(t, tt.owner+".ok.test")
		}
		service := -1
		if m.Node != nil {
			service = m.Node.Service
		}
		if m.Kind != tt.kind || m.Owner != owner || service != tt.service {
			t.Errorf("%s: kind %d, owner %s, service %d; want %d, %s, %d", tt.name, m.Kind, m.Owner, service, tt.kind, owner, tt.service)
		}
		if m.Node != nil && m.Node.Name() != m.Owner {
			t.Errorf("%s: node of %s under owner %s", tt.name, m.Node.Name(), m.Owner)
		}
	}
	if node := z.Find(name(t, "sub.ok.test")).Node; !slices.Equal(node.Types(), []uint16{dns.TypeNS, dns.TypeDS}) {
		t.Errorf("delegation has types %v", node.Types())
	}
}

func TestGlueIsKeptBelowTheCut(t *testing.T) {
	z := build(t, depthZone())
	tests := []struct {
		name   string
		rrtype uint16
		want   string
	}{
		{"sub.ok.test", dns.TypeNS, "ns.far.sub.ok.test. A, ns.sub.ok.test. A, ns.sub.ok.test. AAAA"},
		{"ok.test", dns.TypeNS, "ns1.ok.test. A"},
		{"ok.test", dns.TypeMX, "ns1.ok.test. A"},
		{"ok.test", dns.TypeSOA, ""},
	}
	for _, tt := range tests {
		node := z.Find(name(t, tt.name)).Node
		set, _ := node.Set(tt.rrtype)
		var got []string
		for _, host := range z.Hosts(node, set, nil) {
			for glue := range host.Sets() {
				got = append(got, host.Name().String()+" "+dns.Type(glue.Type).String())
			}
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s %s: glue %v, want %s", tt.name, dns.Type(tt.rrtype), got, tt.want)
		}
	}
}

func TestAllWalksInCanonicalOrder(t *testing.T) {
	// The example of RFC 4034 section 6.1.
	s := Spec{Origin: "example", TTL: 1, Texts: []Text{{Text: strings.ReplaceAll(
		`z A,a A,\200.z A,yljkjljk.a A,*.z A,Z.a A,zABC.a.EXAMPLE. A,\001.z A,`, "A,", "A 192.0.2.1\n")}}}
	z := build(t, s)
	var got []string
	for n, node := range z.All() {
		if node.Name() != n {
			t.Errorf("%s yields the node of %s", n, node.Name())
		}
		got = append(got, n.String())
	}
	want := []string{"example.", "a.example.", "yljkjljk.a.example.", "z.a.example.", "zabc.a.example.",
		"z.example.", `\001.z.example.`, "*.z.example.", `\200.z.example.`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// twin answers as RFC 1034 section 4.3.2 and RFC 4592 tell it: from the origin down, label by label.
func twin(origin Name, owners map[Name][]uint16, n Name) Match {
	exists := func(n Name) bool {
		for owner := range owners {
			if owner.Below(n) {
				return true
			}
		}
		return false
	}
	if !n.Below(origin) {
		return Match{}
	}
	path := []Name{n}
	for path[0] != origin {
		path = slices.Insert(path, 0, path[0].Parent())
	}
	encloser := origin
	for _, at := range path {
		if !exists(at) {
			break
		}
		encloser = at
		if at != origin && slices.Contains(owners[at], dns.TypeNS) {
			return Match{Kind: Delegation, Owner: at, Encloser: at}
		}
		if at != n && slices.Contains(owners[at], dns.TypeDNAME) {
			return Match{Kind: DNAME, Owner: at, Encloser: at}
		}
	}
	if encloser == n {
		return Match{Kind: Exact, Owner: n, Encloser: n}
	}
	if wild := "\x01*" + encloser; exists(wild) {
		return Match{Kind: Wildcard, Owner: wild, Encloser: encloser}
	}
	return Match{Kind: Missing, Encloser: encloser}
}

// TestFindEqualsItsSlowTwin also builds zones that verify would refuse: Find must be right on them.
func TestFindEqualsItsSlowTwin(t *testing.T) {
	const origin Name = "\x01o\x00"
	names := rapid.Custom(func(t *rapid.T) Name {
		labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "o"}), 0, 4).Draw(t, "labels")
		n, err := ParseRelative(strings.Join(append(labels, "o."), "."), Root)
		if err != nil {
			t.Fatal(err)
		}
		return n
	})
	data := map[uint16]string{dns.TypeA: "192.0.2.1", dns.TypeNS: "ns.", dns.TypeDNAME: "new."}
	rapid.Check(t, func(t *rapid.T) {
		owners := map[Name][]uint16{origin: {dns.TypeSOA}}
		b := &builder{spec: Spec{Origin: "o"}, origin: origin, drafts: map[Name]*draft{}}
		b.draft(origin)
		for range rapid.IntRange(0, 8).Draw(t, "records") {
			owner := names.Draw(t, "owner")
			rrtype := rapid.SampledFrom([]uint16{dns.TypeA, dns.TypeA, dns.TypeNS, dns.TypeDNAME}).Draw(t, "type")
			rr, err := dns.NewRR(fmt.Sprintf("%s %s %s", owner, dns.Type(rrtype), data[rrtype]))
			if err != nil {
				t.Fatal(err)
			}
			owners[owner] = append(owners[owner], rrtype)
			b.add(rr, inKey("test"))
		}
		z := b.assemble()
		for range 20 {
			n := names.Draw(t, "question")
			got, want := z.Find(n), twin(origin, owners, n)
			if (got.Node == nil) != (want.Owner == "") || got.Node != nil && got.Node.Name() != want.Owner {
				t.Errorf("%s: node and owner do not agree: %v", n, got)
			}
			got.Node = nil
			if got != want {
				t.Errorf("%s: got %+v, want %+v", n, got, want)
			}
		}
	})
}

func TestFindDoesNotAllocate(t *testing.T) {
	z := build(t, depthZone())
	for _, s := range []string{"www.ok.test", "x.vid.ok.test", "no.where.at.all.ok.test", "x.ns.sub.ok.test", "x.old.ok.test", "www.other"} {
		n := name(t, s)
		var m Match
		if got := testing.AllocsPerRun(100, func() { m = z.Find(n) }); got != 0 {
			t.Errorf("%s (kind %d): %v allocations", s, m.Kind, got)
		}
	}
}
