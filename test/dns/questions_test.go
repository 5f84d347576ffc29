package dns

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// asked is one question as it goes to every server.
type asked struct {
	name   string // in presentation form
	rrtype uint16
	class  uint16
	words  []string // what else it has, in dig's words
	stream bool
	packet []byte
}

func (a asked) String() string {
	words := append([]string{a.name, dns.Class(a.class).String(), dns.Type(a.rrtype).String()}, a.words...)
	if a.stream {
		words = append(words, "+tcp")
	}
	return strings.Join(words, " ")
}

// usual is the types that are asked for everywhere; the rest are asked for now and then.
var usual = []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeMX, dns.TypeNS, dns.TypeDS, dns.TypeCNAME, dns.TypeANY}

var seldom = []uint16{
	dns.TypeSOA, dns.TypeDNAME, dns.TypeSRV, dns.TypeHTTPS, dns.TypeSVCB, dns.TypePTR, dns.TypeHINFO, dns.TypeCAA, dns.TypeLOC, dns.TypeSSHFP, dns.TypeNAPTR,
	dns.TypeRP, dns.TypeKX, dns.TypeAFSDB, dns.TypeTLSA, dns.TypeURI, dns.TypeNSEC, dns.TypeRRSIG, dns.TypeDNSKEY, dns.TypeNSEC3, dns.TypeNULL, 731, 65280, 65535, 0, 100, 41, 249, 250, 251, 252, 253, 254,
}

// names gives every owner of the masters, and for each the names above, below and beside it.
func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	seen := map[string]bool{}
	add := func(name string) {
		if _, ok := dns.IsDomainName(name); ok && !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, zone := range masters {
		for _, rr := range readZone(t, folder, zone) {
			for name := rr.Header().Name; dns.IsSubDomain("test.", name) && name != "test."; name = parent(name) {
				add(name)
				add("x." + name)
				add("*." + name)
				add("y.x." + name)
				add("beside." + parent(name))
			}
		}
	}
	for _, name := range []string{".", "test.", "example.", "gamma.test.", "alpha.test.example.", "xalpha.test.", `a\.alpha.test.`, strings.Repeat("a.", 115) + "alpha.test."} {
		add(name)
	}
	return all
}

// parent is a name without its first label.
func parent(name string) string {
	next, end := dns.NextLabel(name, 0)
	if end {
		return "."
	}
	return name[next:]
}

// questions makes the same questions in each run: each name with the usual types, now and then with others, and
// with what clients put into their questions.
func questions(t *testing.T, folder string) (all []asked) {
	t.Helper()
	luck := rand.New(rand.NewPCG(9, 4592))
	for _, name := range names(t, folder) {
		types := append([]uint16{seldom[luck.IntN(len(seldom))], seldom[luck.IntN(len(seldom))]}, usual...)
		for i, rrtype := range types {
			if i > 3 && luck.IntN(3) == 0 { // keeps the number within bounds
				continue
			}
			all = append(all, question(t, luck, name, rrtype))
		}
	}
	seen := map[dns.Question]bool{}
	for _, rr := range readZone(t, folder, masters[0]) { // and everything that is there, as it is and in every size
		there := dns.Question{Name: rr.Header().Name, Qtype: rr.Header().Rrtype}
		if seen[there] {
			continue
		}
		seen[there] = true
		for _, words := range [][]string{nil, {"+bufsize=512"}, {"+bufsize=1232"}, {"+bufsize=4096"}, {"+tcp"}} {
			all = append(all, build(t, asked{name: rr.Header().Name, rrtype: rr.Header().Rrtype, class: dns.ClassINET, words: words}))
		}
	}
	return all
}

// question draws how a question is put.
func question(t *testing.T, luck *rand.Rand, name string, rrtype uint16) asked {
	t.Helper()
	a := asked{name: name, rrtype: rrtype, class: dns.ClassINET}
	if luck.IntN(40) == 0 {
		a.class = []uint16{dns.ClassCHAOS, dns.ClassHESIOD, dns.ClassANY, dns.ClassNONE, 4711}[luck.IntN(5)]
	}
	for _, word := range []string{"+rd", "+cd", "+ad", "+z", "+tcp", "+0x20"} {
		if luck.IntN(6) == 0 {
			a.words = append(a.words, word)
		}
	}
	if luck.IntN(2) == 0 {
		a.words = append(a.words, []string{"+bufsize=0", "+bufsize=512", "+bufsize=1232", "+bufsize=4096", "+bufsize=65535"}[luck.IntN(5)])
		for _, word := range []string{"+do", "+nsid", "+ednsflags=0x7fff", "+ednsopt=65001:abcd", "+subnet=203.0.113.0/24", "+subnet=2001:db8::/32", "+subnet=0.0.0.0/0", "+keepalive", "+cookie", "+edns=1"} {
			if luck.IntN(8) == 0 && !(strings.HasPrefix(word, "+subnet") && strings.Contains(strings.Join(a.words, " "), "+subnet")) {
				a.words = append(a.words, word)
			}
		}
	}
	return build(t, a)
}

// build makes the packet of a question.
func build(t *testing.T, a asked) asked {
	t.Helper()
	m := &dns.Msg{Question: []dns.Question{{Name: a.name, Qtype: a.rrtype, Qclass: a.class}}}
	var words []string
	for _, word := range a.words {
		if word == "+tcp" {
			a.stream = true
			continue
		}
		put(m, word)
		words = append(words, word)
	}
	a.words = words
	packet, err := m.Pack()
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	a.packet = packet
	return a
}

// put puts what a word says into a question.
func put(m *dns.Msg, word string) {
	key, value, _ := strings.Cut(word, "=")
	number := func() uint16 {
		var n uint16
		for _, digit := range value {
			n = 10*n + uint16(digit-'0')
		}
		return n
	}
	switch key {
	case "+rd":
		m.RecursionDesired = true
		return
	case "+cd":
		m.CheckingDisabled = true
		return
	case "+ad":
		m.AuthenticatedData = true
		return
	case "+z":
		m.Zero = true
		return
	case "+0x20":
		m.Question[0].Name = alternate(m.Question[0].Name)
		return
	}
	o := m.IsEdns0()
	if o == nil {
		o = &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
		m.Extra = append(m.Extra, o)
	}
	switch key {
	case "+bufsize":
		o.SetUDPSize(number())
	case "+edns":
		o.SetVersion(uint8(number()))
	case "+do":
		o.SetDo()
	case "+ednsflags":
		o.Hdr.Ttl |= 0x7fff
	case "+nsid":
		o.Option = append(o.Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID})
	case "+keepalive":
		o.Option = append(o.Option, &dns.EDNS0_TCP_KEEPALIVE{Code: dns.EDNS0TCPKEEPALIVE})
	case "+cookie":
		o.Option = append(o.Option, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "2464c4abcf10c957"})
	case "+ednsopt":
		o.Option = append(o.Option, &dns.EDNS0_LOCAL{Code: 65001, Data: []byte{0xab, 0xcd}})
	case "+subnet":
		p := netip.MustParsePrefix(value)
		family := uint16(1)
		if p.Addr().Is6() {
			family = 2
		}
		o.Option = append(o.Option, &dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: family, SourceNetmask: uint8(p.Bits()), Address: p.Addr().AsSlice()})
	default:
		panic("what is " + word + "?")
	}
}

// alternate writes every second letter of a name in the other case.
func alternate(name string) string {
	b := []byte(name)
	for i, c := range b {
		if i%2 == 0 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			b[i] ^= 0x20
		}
	}
	return string(b)
}

// numbered is a packet with an ID of its own.
func numbered(packet []byte, id int) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(id)), packet[min(2, len(packet)):]...)
}
