package dns_test

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	mdns "github.com/miekg/dns"

	"gslb/bgp"
	"gslb/dns"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/dns/zone"
	"gslb/health"
)

// denialWords are the ways to prove that there is nothing, as a config has them.
var denialWords = []string{"nsec", "nsec3", "compact"}

// more is what the zone of the tests has beside the rest when it is signed.
const more = `
      bare     NS    ns1.example.
      *.point  CNAME www
`

// signedWorld is a snapshot of the usual world with a signed zone.
type signedWorld struct {
	s         *steer.Snapshot
	signer    *sign.Signer
	validator validator
	z         *zone.Zone
}

func signed(t testing.TB, denial string) signedWorld {
	t.Helper()
	return signedOf(t, denial, text)
}

func signedOf(t testing.TB, denial, config string) signedWorld {
	t.Helper()
	folder := t.TempDir()
	dnssec := fmt.Sprintf("    dnssec: {keys: %q, denial: %s}\n", folder, denial)
	if denial == "compact" {
		config = strings.Replace(config, "    transfer: {allow: [127.0.0.0/8], keys: [xfr]}\n", "", 1)
	}
	config = strings.Replace(config, "    ns: [ns1, ns2.example.]\n", "    ns: [ns1, ns2.example.]\n"+dnssec, 1)
	config = strings.Replace(config, "    services: {www: web", strings.TrimPrefix(more, "\n")+"    services: {www: web", 1)
	w := signedWorld{signer: sign.NewSigner(slog.New(slog.DiscardHandler))}
	w.s = snapshotWith(t, config, func(in *steer.Inputs) {
		signed, err := w.signer.Prepare(in.Policy.Signed(), noon)
		if err != nil {
			t.Fatal(err)
		}
		w.signer.Use(signed)
		in.Signed = signed
	})
	w.z, _ = w.s.Zone(nameOf("ok.test."))
	w.validator = validator{origin: "ok.test.", now: noon}
	reply := w.ask(t, "ok.test. DNSKEY +do", "192.88.99.1", 0)
	w.validator.key = reply.Answer[0].(*mdns.DNSKEY)
	return w
}

func (w signedWorld) ask(t fataler, words, source string, seed uint64) *mdns.Msg {
	t.Helper()
	packet, stream := question(t, words)
	return w.send(t, packet, source, seed, stream)
}

func (w signedWorld) send(t fataler, packet []byte, source string, seed uint64, stream bool) *mdns.Msg {
	t.Helper()
	m := new(mdns.Msg)
	reply := dns.NewResponder("ns1", "test").Respond(w.s, dns.Request{Packet: packet, Source: netip.MustParseAddr(source), Over: over(stream), Now: noon, Seed: seed}, nil)
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

// names are all names of the zone, and some that it lacks beside and below each.
func (w signedWorld) names() (names []string) {
	for n := range w.z.All() {
		names = append(names, n.String(), "x."+n.String(), "zz"+n.String())
	}
	return slices.DeleteFunc(names, func(n string) bool { return !mdns.IsSubDomain("ok.test.", n) })
}

// longest are names of the zone as long as names can be, or shorter by an octet, below some others.
func longest() (names []string) {
	for _, above := range []string{"ok.test.", "wild.ok.test.", "vid.ok.test.", "x.vid.ok.test.", "old.ok.test.", "child.ok.test."} {
		for _, length := range []int{254, 255} {
			for _, octet := range []string{"b", "z", "\\255"} {
				room := length - len(nameOf(above))
				name := above
				for ; room > 64; room -= 64 {
					name = strings.Repeat(octet, 63) + "." + name
				}
				names = append(names, strings.Repeat(octet, room-1)+"."+name)
			}
		}
	}
	return names
}

// Every reply to a client that wants signatures is believed by one who trusts the zone's key, whatever is asked for, and says
// what it says to all others.
func TestSignedRepliesAreBelieved(t *testing.T) {
	types := []uint16{
		mdns.TypeA, mdns.TypeAAAA, mdns.TypeNS, mdns.TypeSOA, mdns.TypeMX, mdns.TypeTXT, mdns.TypeCNAME, mdns.TypeDNAME, mdns.TypeSRV, mdns.TypeHTTPS,
		mdns.TypeDS, mdns.TypeDNSKEY, mdns.TypeCDS, mdns.TypeNSEC, mdns.TypeNSEC3PARAM, mdns.TypeRRSIG, mdns.TypeANY, 65280,
	}
	for _, denial := range denialWords {
		t.Run(denial, func(t *testing.T) {
			t.Parallel()
			w := signed(t, denial)
			seed := uint64(1)
			for _, name := range append(w.names(), longest()...) {
				for i, rrtype := range types {
					if denial != "nsec" && (i+len(name))%3 > 0 {
						continue // what differs is found in a part of them
					}
					seed = seed*6364136223846793005 + 1442695040888963407
					source := [...]string{"192.88.99.1", "203.0.113.9"}[seed>>40&1]
					words := fmt.Sprintf("%s TYPE%d +tcp", name, rrtype)
					m := w.ask(t, words+" +do", source, seed)
					if err := w.validator.judge(m); err != nil {
						t.Errorf("%s %s: %v\n%s", name, mdns.Type(rrtype), err, show(m))
					}
					if got, want := unsigned(m), unsigned(w.ask(t, words, source, seed)); got != want && rrtype != mdns.TypeANY && rrtype != mdns.TypeRRSIG && denial != "compact" {
						t.Errorf("%s %s\nsays with signatures:\n%swithout:\n%s", name, mdns.Type(rrtype), got, want)
					}
				}
			}
		})
	}
}

// A client that takes NXDOMAIN beside a compact denial is told that this is one (RFC 9824 section 5.1).
func TestCompactDenialTellsThatItIsOne(t *testing.T) {
	for _, denial := range denialWords {
		w := signed(t, denial)
		for _, tc := range []struct{ ask, compact, other string }{
			{"nope.ok.test. A +do +co", "NXDOMAIN aa co", "NXDOMAIN aa"},
			{"nope.ok.test. A +do", "NOERROR aa", "NXDOMAIN aa"},
			{"nope.ok.test. A +co", "NXDOMAIN aa", "NXDOMAIN aa"},
			{"ns1.ok.test. A +do +co", "NOERROR aa co", "NOERROR aa"},
			{"ns1.ok.test. TYPE128 +do +co", "FORMERR", "FORMERR"},
			{"ns1.ok.test. TYPE128", "FORMERR", "FORMERR"},
			{"example. TYPE128 +do", "FORMERR", "FORMERR"},
		} {
			m := w.ask(t, tc.ask+" +tcp", "192.88.99.1", 0)
			got, want := strings.SplitN(show(m), "\n", 2)[0], tc.other
			if o := m.IsEdns0(); o != nil && o.Hdr.Ttl&(1<<14) != 0 {
				got += " co"
			}
			if denial == "compact" {
				want = tc.compact
			}
			if got != want {
				t.Errorf("%s: %s: %s, want %s", denial, tc.ask, got, want)
			}
		}
	}
}

// unsigned shows a reply without signatures, proofs, and the order of what hangs on luck.
func unsigned(m *mdns.Msg) string {
	strip := func(rrs []mdns.RR, authority bool) []mdns.RR {
		return slices.DeleteFunc(slices.Clone(rrs), func(rr mdns.RR) bool {
			t := rr.Header().Rrtype
			return t == mdns.TypeRRSIG || t == mdns.TypeNSEC && authority || t == mdns.TypeNSEC3 || t == mdns.TypeDS && authority || t == mdns.TypeOPT
		})
	}
	o := m.Copy()
	o.Answer, o.Ns, o.Extra = strip(m.Answer, false), strip(m.Ns, true), strip(m.Extra, false)
	for _, rr := range o.Answer {
		if h, ok := rr.(*mdns.HTTPS); ok {
			for _, v := range h.Value {
				if hint, ok := v.(*mdns.SVCBIPv4Hint); ok {
					slices.SortFunc(hint.Hint, func(a, b net.IP) int { return slices.Compare(a, b) })
				}
			}
		}
	}
	return show(o)
}

// A client that does not want signatures gets none, nor anything else that it did not get before.
func TestNobodyGetsSignaturesUnasked(t *testing.T) {
	w := signed(t, "nsec")
	for _, name := range w.names() {
		for _, rrtype := range []uint16{mdns.TypeA, mdns.TypeAAAA, mdns.TypeMX, mdns.TypeDNSKEY, mdns.TypeANY} {
			m := w.ask(t, fmt.Sprintf("%s TYPE%d +tcp +edns=1232 +cd", name, rrtype), "192.88.99.1", 0)
			for _, rr := range slices.Concat(m.Answer, m.Ns, m.Extra) {
				switch rr.Header().Rrtype {
				case mdns.TypeRRSIG, mdns.TypeNSEC:
					t.Errorf("%s %s gets %s", name, mdns.Type(rrtype), rr)
				}
			}
			if m.AuthenticatedData || m.CheckingDisabled {
				t.Errorf("%s %s: AD %t, CD %t (RFC 4035 section 3.1.6)", name, mdns.Type(rrtype), m.AuthenticatedData, m.CheckingDisabled)
			}
		}
	}
}

// A reply with signatures that does not fit is cut, and never longer than it may be.
func TestSignedRepliesFitOrAreCut(t *testing.T) {
	w := signed(t, "nsec3")
	cut := 0
	for _, name := range w.names() {
		for _, size := range []int{512, 700, 1232} {
			packet, _ := question(t, fmt.Sprintf("%s A +edns=%d +do", name, size))
			reply := dns.NewResponder("ns1", "test").Respond(w.s, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: noon}, nil)
			m := new(mdns.Msg)
			if err := m.Unpack(reply); err != nil || len(reply) > size {
				t.Fatalf("%s: %d octets of %d: %v", name, len(reply), size, err)
			}
			if m.Truncated {
				cut++
			} else if err := w.validator.judge(m); err != nil {
				t.Errorf("%s: %v\n%s", name, err, show(m))
			}
		}
	}
	if cut == 0 {
		t.Error("nothing was cut")
	}
}

// What is asked for in common costs no signature and no allocation, once it has been asked for; nor does a flood of
// questions for names that do not exist, in a zone with a chain.
func TestSignedAnswersDoNotSignNorAllocate(t *testing.T) {
	for _, denial := range denialWords[:2] {
		w := signed(t, denial)
		worker := dns.NewResponder("ns1", "test").Worker()
		room := make([]byte, 0, 1232)
		for _, tc := range common {
			packet, stream := question(t, tc.ask+" +do")
			req := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over(stream), Now: noon}
			room = worker.Respond(w.s, req, room[:0]) // a set that nobody foresaw is signed once
			before := w.signer.Counts.Asked.Load()
			n := testing.AllocsPerRun(100, func() {
				req.Seed += 1 << 32
				room = worker.Respond(w.s, req, room[:0])
			})
			if made := w.signer.Counts.Asked.Load() - before; n > 0 || made > 0 {
				t.Errorf("%s %s: %v allocations, %d signatures", denial, tc.name, n, made)
			}
		}
		before := w.signer.Counts.Asked.Load()
		for i := range 1000 {
			if m := w.ask(t, fmt.Sprintf("n%d.ok.test. A +do", i), "192.88.99.1", 0); m.Rcode != mdns.RcodeNameError {
				t.Fatal(show(m))
			}
		}
		if made := w.signer.Counts.Asked.Load() - before; made > 0 {
			t.Errorf("%s: %d signatures for names that do not exist", denial, made)
		}
	}
}

const fading = `
checks: {web: {tcp: {port: 80}}}
datacenters: {a: {}, b: {}}
services:
  dual: {ttl: 20, check: web, steer: [datacenters], all_down: nodata, https: {alpn: [h2]}, at: {a: [192.0.2.1, "2001:db8::1"]}}
zones:
  ok.test:
    ns: [ns1, ns2.example.]
    records: "ns1 A 192.0.2.53"
    services: {www: web, "@": dual, "*.w": dual}
`

// A family that a service does not give for the moment is denied by a record that says so of this name and of no
// other type, for no longer than the service's TTL; when it is back, so is the other record.
func TestDeniesWhatIsNotGivenForTheMoment(t *testing.T) {
	text := strings.Replace(fading, "{www: web", "{www: dual", 1)
	for _, denial := range denialWords {
		board := health.NewBoard()
		w := signedOf(t, denial, text)
		policy := w.s.Policy()
		board.Apply(policy.Targets(), noon)
		say := func(address string, ok bool) {
			for _, target := range policy.Targets() {
				for range 20 {
					if target.Address.String() == address {
						board.Record(target.Key(), health.Result{OK: ok}, noon)
					}
				}
			}
		}
		for _, tc := range []struct {
			ipv4, ipv6 bool
			given      int // types, of three
		}{{true, true, 3}, {true, false, 2}, {false, true, 2}, {false, false, 0}, {true, true, 3}} {
			say("192.0.2.1", tc.ipv4)
			say("2001:db8::1", tc.ipv6)
			w.s = steer.Build(steer.Inputs{
				Policy: policy, Config: 1, Health: board.Latest(), Routes: bgp.NewTable(1, nil), Geo: w.s.Geo(), Now: noon, Signed: w.signer.Latest(),
			}, nil)
			for _, name := range []string{"www.ok.test.", "x.w.ok.test.", "ok.test."} {
				given := 0
				for _, rrtype := range []string{"A", "AAAA", "HTTPS"} {
					m := w.ask(t, name+" "+rrtype+" +do +tcp", "192.88.99.1", 0)
					if err := w.validator.judge(m); err != nil {
						t.Errorf("%s: %s %s: %v\n%s", denial, name, rrtype, err, show(m))
					}
					if len(m.Answer) > 0 {
						given++
					}
					for _, rr := range m.Ns {
						if rr.Header().Ttl > 20 && rr.Header().Rrtype != mdns.TypeSOA && len(m.Answer) == 0 {
							t.Errorf("%s: %s: TTL of %s", denial, name, rr)
						}
					}
				}
				if given != tc.given {
					t.Errorf("%s: %s: %d types with %v", denial, name, given, tc)
				}
			}
		}
	}
}
