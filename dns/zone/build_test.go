package zone

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// build makes a zone that must have no mistakes.
func build(t testing.TB, s Spec) *Zone {
	t.Helper()
	z, problems := Build(s)
	if z == nil {
		t.Fatalf("zone %s was not built:\n%s", s.Origin, tell(s, problems))
	}
	return z
}

// fromText is a spec of one text.
func fromText(text string) Spec {
	return Spec{Origin: "ok.test", TTL: 3600, Texts: []Text{{File: "ok.test.zone", Line: 1, Text: text}}}
}

// written is the zone as a master file.
func written(z *Zone) string {
	var b strings.Builder
	for _, node := range z.All() {
		for set := range node.Sets() {
			for _, rr := range z.Records(node, set) {
				fmt.Fprintln(&b, rr)
			}
		}
	}
	return b.String()
}

func TestServesEveryTypeAsWritten(t *testing.T) {
	text, err := os.ReadFile("testdata/good/types.zone")
	if err != nil {
		t.Fatal(err)
	}
	z := build(t, fromText(string(text)))
	types := map[uint16]bool{}
	for line := range strings.Lines(string(text)) {
		want, err := dns.NewRR(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		owner, err := ParseName(want.Header().Name)
		if err != nil {
			t.Fatal(err)
		}
		types[want.Header().Rrtype] = true
		set, _ := z.node(owner).Set(want.Header().Rrtype)
		found := false
		for _, rr := range z.Records(z.node(owner), set) {
			found = found || bytes.Equal(canonicalData(t, rr), canonicalData(t, want))
		}
		if !found || set.TTL != want.Header().Ttl {
			t.Errorf("%s is not in %v", want, set)
		}
	}
	if len(types) < 50 {
		t.Errorf("only %d types tried", len(types))
	}
	again := build(t, fromText(written(z)))
	if diff := cmp.Diff(written(z), written(again)); diff != "" {
		t.Errorf("zone changed on the way through its own text:\n%s", diff)
	}
}

// canonicalData is a record's data in wire form, with the names in it in lower case.
func canonicalData(t *testing.T, rr dns.RR) []byte {
	t.Helper()
	b := make([]byte, 66000)
	n, err := dns.PackRR(rr, b, 0, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	_, owner, err := nameFromWire(b[:n])
	if err != nil {
		t.Fatal(err)
	}
	canonical(rr.Header().Rrtype, b[owner+10:n])
	return b[owner+10 : n]
}

func TestDefaultTTLIsTheSpecsUntilTheTextSaysOtherwise(t *testing.T) {
	s := fromText("a A 192.0.2.1\nb 5 A 192.0.2.1\nc A 192.0.2.1\n$TTL 1h30m\nd A 192.0.2.1\n" +
		"$GENERATE 1-2 e$ A 192.0.2.$\n$GENERATE 1-2 f$ 7 IN A 192.0.2.$\n$GENERATE 1-2 g$ IN 1m A 192.0.2.$\n")
	s.TTL = 77
	s.Texts = append(s.Texts, Text{File: "gslb.yaml", Line: 9, Text: "h A 192.0.2.1"})
	z := build(t, s)
	want := map[string]uint32{"a": 77, "b": 5, "c": 77, "d": 5400, "e1": 5400, "e2": 5400, "f2": 7, "g1": 60, "h": 77, "@": 77}
	for label, ttl := range want {
		name, err := ParseRelative(label, z.Origin())
		if err != nil {
			t.Fatal(err)
		}
		for set := range z.Find(name).Node.Sets() {
			if set.TTL != ttl {
				t.Errorf("%s has TTL %d, want %d", name, set.TTL, ttl)
			}
		}
	}
}

func TestFillsInWhatKeysLeaveOut(t *testing.T) {
	tests := []struct {
		name string
		spec Spec
		soa  string // without the serial
		ns   string
	}{
		{"nothing", Spec{}, "ok.test. hostmaster.ok.test. 3600 600 604800 60", ""},
		{"name servers", Spec{NS: []string{"B.elsewhere.", "a.elsewhere."}},
			"B.elsewhere. hostmaster.ok.test. 3600 600 604800 60", "a.elsewhere. B.elsewhere."},
		{"name servers in the text", Spec{Texts: []Text{{Text: "@ NS b.elsewhere.\n@ NS A.elsewhere."}}},
			"a.elsewhere. hostmaster.ok.test. 3600 600 604800 60", "A.elsewhere. b.elsewhere."},
		{"keys", Spec{SOA: &SOA{MName: "x", RName: "john.doe@ok.test", Refresh: 1, Retry: 2, Expire: 3, Minimum: 4}},
			`x.ok.test. john\.doe.ok.test. 1 2 3 4`, ""},
		{"apex names", Spec{SOA: &SOA{MName: "@", RName: "a.b.", Refresh: 1, Retry: 2, Expire: 3, Minimum: 4}},
			"ok.test. a.b. 1 2 3 4", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Origin, tt.spec.TTL = "OK.test.", 30
			z := build(t, tt.spec)
			soa := z.Records(z.node(z.origin), z.SOA())[0].(*dns.SOA)
			got := fmt.Sprint(soa.Ns, " ", soa.Mbox, " ", soa.Refresh, " ", soa.Retry, " ", soa.Expire, " ", soa.Minttl)
			if got != tt.soa || z.SOA().TTL != 30 {
				t.Errorf("SOA %s TTL %d, want %s TTL 30", got, z.SOA().TTL, tt.soa)
			}
			var ns []string
			set, _ := z.node(z.origin).Set(dns.TypeNS)
			for _, rr := range z.Records(z.node(z.origin), set) {
				ns = append(ns, rr.(*dns.NS).Ns)
			}
			if got := strings.Join(ns, " "); got != tt.ns {
				t.Errorf("NS %q, want %q", got, tt.ns)
			}
		})
	}
}

// TestKnowsTheLineOfEveryRecord puts a marker type that no zone may hold behind texts of many shapes: its
// line and column must be told exactly.
func TestKnowsTheLineOfEveryRecord(t *testing.T) {
	tests := []struct {
		name, before string
		line         int // of the record after before, in the text
	}{
		{"first", "", 1},
		{"blank lines", "\n\n  \n\t\n", 5},
		{"comments", "; one (\n  ; \"two\na A 192.0.2.1 ; three )\n", 4},
		{"SOA over lines", "@ SOA ns1 hostmaster ( 1 ; serial (\n 2\n\n ; \"\n 3 4\n 5\n )\n", 8},
		{"parenthesis first", "(\n@ SOA ns1 hostmaster 1 2 3 4 5\n)\n", 4},
		{"quoted newline", "a TXT \"one\ntwo ; ( \n\" three\n", 4},
		{"quoted quote", "a TXT \"one\\\"; (\" ; \"\n", 2},
		{"escaped quote", "a TXT one\\\" \\( \\;\n", 2},
		{"directives", "$TTL 5\n$ORIGIN ok.test. ; here\n$GENERATE 1-20 a$ A 192.0.2.$\n", 4},
		{"carriage returns", "a A 192.0.2.1\r\n\r\n; x\r\n", 4},
		{"owner left out", "a A 192.0.2.1\n  A 192.0.2.2\n", 3},
		{"a broken line", "a BAD\nb A x\n", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fromText(tt.before + "marker NSEC a.\n\n  marker2 x\nmarker NSEC ( a.\n )")
			s.Texts[0].Line = 100
			_, problems := Build(s)
			want := map[[2]int]bool{{tt.line + 99, 1}: true, {tt.line + 99 + 3, 1}: true}
			for _, p := range problems {
				if strings.HasPrefix(p.Message, "NSEC") && !want[[2]int{p.Line, p.Column}] {
					t.Errorf("%q told at %d:%d, want line %d", p.Message, p.Line, p.Column, tt.line+99)
				}
				delete(want, [2]int{p.Line, p.Column})
			}
			if len(want) > 0 {
				t.Errorf("not told: %v; told:\n%s", want, tell(s, problems))
			}
		})
	}
}

func TestPointsFromOneTextToAnother(t *testing.T) {
	s := Spec{Origin: "ok.test", TTL: 60, Texts: []Text{
		{File: "ok.test.zone", Line: 1, Text: "\nwww A 192.0.2.1\n"},
		{File: "gslb.yaml", Line: 40, Text: "@ TXT x\n\nwww 5 A 192.0.2.2\n"},
	}}
	_, problems := Build(s)
	want := "gslb.yaml:42:1: error: www.ok.test. A has TTL 5 here and 60 at ok.test.zone:2: one RRset has one TTL (RFC 2181 section 5.2)\n" +
		"key ns: warning: zone ok.test. has no name servers: no parent can delegate to it\n"
	if diff := cmp.Diff(want, tell(s, problems)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusesABadOrigin(t *testing.T) {
	z, problems := Build(Spec{Origin: "ok..test"})
	if z != nil || len(problems) != 1 || problems[0].Text != -1 || problems[0].Key != "" || problems[0].Warning {
		t.Errorf("got %v, %v", z, problems)
	}
}

func TestReadsALastLineWithoutNewline(t *testing.T) {
	z := build(t, fromText("a A 192.0.2.1\nb TXT \"x\" ; comment"))
	if z.Len() != 3 {
		t.Errorf("%d names, want 3:\n%s", z.Len(), written(z))
	}
}

func TestIgnoresAByteOrderMark(t *testing.T) {
	z := build(t, fromText("\ufeffa A 192.0.2.1\n"))
	if m := z.Find(name(t, "a.ok.test")); m.Kind != Exact {
		t.Errorf("kind %d:\n%s", m.Kind, written(z))
	}
}

func TestRefusesAnRRsetThatNoMessageHolds(t *testing.T) {
	for _, tc := range []struct {
		addresses int
		want      string
	}{
		{4093, ""},
		{4094, "ok.test.zone:2:1: error: big.ok.test. A makes an answer of 65544 octets, and the longest that can be sent has 65535\n"},
	} {
		var text strings.Builder
		fmt.Fprintln(&text, "@ 3600 NS ns.example.")
		for i := range tc.addresses {
			fmt.Fprintf(&text, "big A 10.0.%d.%d\n", i>>8, i&255)
		}
		s := fromText(text.String())
		_, problems := Build(s)
		if diff := cmp.Diff(tc.want, tell(s, problems)); diff != "" {
			t.Errorf("%d addresses: %s", tc.addresses, diff)
		}
	}
}

// A part of the spec that its sum forgets would keep the zone of another config in force.
func TestRebuildsWhatIsAnotherInAnyPart(t *testing.T) {
	spec := func() Spec {
		s := fromText("@ NS ns1\nns1 A 192.0.2.53\nwww A 192.0.2.1\n")
		s.Texts = append(s.Texts, Text{File: "b", Line: 3, Text: "txt TXT \"a\"\n"})
		s.SOA = &SOA{MName: "ns1", RName: "hostmaster", Serial: 1, Refresh: 1, Retry: 1, Expire: 1, Minimum: 1}
		s.Services = []ServiceName{addressService("app", 0)}
		return s
	}
	old, problems := Build(spec())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	moved := spec()
	moved.Texts[1].Line, moved.Texts[1].File = 70, "elsewhere"
	for _, s := range []Spec{spec(), moved} {
		if z, _ := Rebuild(s, old); z != old {
			t.Error("the same spec is built again")
		}
	}
	for what, edit := range map[string]func(*Spec){
		"origin":         func(s *Spec) { s.Origin = "other.test" },
		"TTL":            func(s *Spec) { s.TTL++ },
		"name servers":   func(s *Spec) { s.NS = []string{"ns1.else.test."} },
		"no SOA":         func(s *Spec) { s.SOA = nil },
		"serial":         func(s *Spec) { s.SOA.Serial++ },
		"auto":           func(s *Spec) { s.SOA.Auto = true },
		"minimum":        func(s *Spec) { s.SOA.Minimum++ },
		"a text":         func(s *Spec) { s.Texts[0].Text += "mail A 192.0.2.2\n" },
		"a text's place": func(s *Spec) { s.Texts[0], s.Texts[1] = s.Texts[1], s.Texts[0] },
		"a service":      func(s *Spec) { s.Services = append(s.Services, addressService("api", 1)) },
		"an index":       func(s *Spec) { s.Services[0].Service++ },
		"a name":         func(s *Spec) { s.Services[0].Name = "application" },
		"a pinned name":  func(s *Spec) { s.Services[0].Pinned += "2" },
		"what it gives":  func(s *Spec) { s.Services[0].Gives = []uint16{1} },
		"an alias":       func(s *Spec) { s.Services[0].Alias = true },
	} {
		s := spec()
		if edit(&s); s.sum() == old.sum {
			t.Errorf("%s: the sum is the same", what)
		}
	}
	doubtful := spec()
	doubtful.Texts[0].Text += "www A 192.0.2.1\n" // given twice
	z, told := Build(doubtful)
	if again, problems := Rebuild(doubtful, z); again == z || len(problems) != len(told) || len(told) == 0 {
		t.Error("warnings are told only once")
	}
}
