package dns

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/sign"
	"gslb/dns/zone"
	"gslb/test/rig"
)

// signedConfig is a server with signed zones: ok.test with names of every kind, safe.ok.test below it with keys of its
// own, and bare.ok.test without any. DENIAL and DS stand for what differs, PACE for how often checks look.
const signedConfig = `
server: {listen: ["DNS"], state: state.db, nsid: ours}
admin: {listen: "ADMIN"}
checks: {said: {file: {path: "state-{address}"}, interval: PACE, timeout: PACE, window: 1, fall: 1, rise: 1}}
datacenters: {msk: {location: [55.7, 37.6]}, fra: {location: [50.1, 8.7]}}
sites: {nsk: {partners_only: true}}
partners: {sibtel: {site: nsk, networks: [203.0.113.0/24]}}
services:
  video: {ttl: 2, ttl_min: 1, check: said, https: {alpn: [h2]}, at: {nsk: [198.51.100.1], msk: [192.0.2.1, 192.0.2.2, "2001:db8::1"], fra: [192.0.2.9]}}
  four:  {ttl: 2, at: {msk: [192.0.2.4]}}
  dual:  {ttl: 2, ttl_min: 1, check: said, steer: [datacenters], at: {msk: [192.0.2.5, "2001:db8::5"]}}
  all:   {ttl: 2, ttl_min: 1, check: said, steer: [datacenters], answer: all, at: {msk: [192.0.2.1, 192.0.2.2], fra: [192.0.2.9]}}
  led:   {ttl: 2, at: {msk: {cname: www.ok.test}}}
  sip:   {ttl: 2, steer: [datacenters], answer: all, at: {msk: {srv: {target: ns1.ok.test, port: 5060}}, fra: {srv: {target: b.example, port: 5061}}}}
zones:
  ok.test:
    ttl: TTL
    soa: {mname: ns1, serial: 7, minimum: 2}
    ns: [ns1, ns2]
    dnssec: {keys: keys, denial: DENIAL, propagation: 0s, parent_ttl: 1s}
    records: |
      ns1     A     192.0.2.53
      ns1     AAAA  2001:db8::53
      ns2     A     192.0.2.54
      UPPER   MX    10 Ns1
      long    TXT   "LONG" "LONG" "LONG" "LONG" "LONG"
      alias   CNAME www
      lost    CNAME nothing
      a.b.ent TXT   "x"
      *.wild  TXT   "w"
      *.led   CNAME www
      old     DNAME new
      x.new   A     192.0.2.77
      bare    NS    ns1
      safe    NS    ns1
      safe    DS    DS
    services: {www: video, "@": video, "*.vid": video, four: four, dual: dual, all: all, see: led, _sip._udp: sip}
  bare.ok.test: {ns: [ns1.ok.test.], records: "www A 192.0.2.81"}
  safe.ok.test: {ns: [ns1.ok.test.], dnssec: {keys: keys}, records: "www A 192.0.2.82"}
`

// addresses are those of its endpoints.
var addresses = []string{"198.51.100.1", "192.0.2.1", "192.0.2.2", "192.0.2.5", "192.0.2.9", "2001:db8::1", "2001:db8::5"}

// signedServer is our server with signed zones.
type signedServer struct {
	t  *testing.T
	at netip.AddrPort
	p  *process

	keys  string // folder
	trust string // the DNSKEY record of ok.test, behind the owner
}

// key makes a key of a zone.
func key(t *testing.T, folder, origin string, a sign.Algorithm, times sign.Times) *sign.Key {
	t.Helper()
	name, err := zone.ParseName(origin)
	if err != nil {
		t.Fatal(err)
	}
	k, err := sign.Make{Folder: folder, Zone: name, Algorithm: a, EntryPoint: true, Times: times}.Key()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// dnskey is a key's DNSKEY record, behind the owner and its class.
func dnskey(t *testing.T, k *sign.Key) string {
	t.Helper()
	text, err := os.ReadFile(k.Path() + ".key")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(regexp.MustCompile(`DNSKEY (.*)`).FindStringSubmatch(string(text))[1])
}

// newSignedServer starts one whose verdicts may change as often as its TTL says. Where that is an hour, none changes because
// the machine was busy for a moment.
func newSignedServer(t *testing.T, denial, ttl string) *signedServer {
	t.Helper()
	pace := "50ms"
	if ttl == "3600" {
		pace = "1m"
	}
	s := &signedServer{t: t}
	keys := t.TempDir()
	now := time.Now().Add(-time.Hour)
	times := sign.Times{Created: now, Publish: now, Activate: now}
	s.trust = dnskey(t, key(t, keys, "ok.test", sign.ECDSAP256SHA256, times))
	_, ds := key(t, keys, "safe.ok.test", sign.Ed25519, times).DS(sign.SHA256)
	s.keys = keys
	text := strings.NewReplacer("PACE", pace, "DENIAL", denial, "DS    DS", "DS    "+ds, "TTL", ttl, "keys: keys", fmt.Sprintf("keys: %q", keys), "LONG", strings.Repeat("x", 250)).Replace(signedConfig)
	files := map[string]string{}
	for _, a := range addresses {
		files["state-"+a] = "up\n"
	}
	s.at, s.p = gslb(t, text, files)
	answers(t, s.at, "ok.test.", dns.TypeSOA)
	return s
}

// say has the checks of an endpoint find it up or down.
func (s *signedServer) say(address, state string) {
	s.t.Helper()
	path := filepath.Join(s.p.folder, "state-"+address)
	if err := os.WriteFile(path+".new", []byte(state+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.t.Fatal(err)
	}
}

// validators are resolvers that trust the key of ok.test, and such as trusts given.
func (s *signedServer) validators(trusts ...string) map[string]netip.AddrPort {
	s.t.Helper()
	var lines []string
	anchors := "trust-anchors {"
	for _, trust := range append(trusts, s.trust) {
		words := strings.Fields(trust)
		lines = append(lines, fmt.Sprintf("  trust-anchor: \"ok.test. DNSKEY %s\"", trust))
		anchors += fmt.Sprintf(" ok.test. static-key %s %s %s \"%s\";", words[0], words[1], words[2], strings.Join(words[3:], ""))
	}
	lines = append(lines, "  module-config: \"subnetcache validator iterator\"", "  aggressive-nsec: yes", "  val-log-level: 2", "  qname-minimisation-strict: no")
	ours := fmt.Sprintf("%s port %d", s.at.Addr(), s.at.Port())
	return map[string]netip.AddrPort{
		"unbound": unbound(s.t, s.at, lines...),
		"BIND": bind(s.t, anchors+" };\n", "recursion yes; empty-zones-enable no; dnssec-validation yes; synth-from-dnssec yes;",
			fmt.Sprintf(`zone "ok.test" { type forward; forward only; forwarders { %s; }; };`, ours)),
	}
}

// believed asks a resolver, and tells the RCODE, with "secure" where it has validated the answer, and its data.
func believed(at netip.AddrPort, name string, rrtype uint16) (string, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, rrtype)
	m.SetEdns0(4096, true)
	c := dns.Client{Net: "tcp", Timeout: rig.Soon}
	r, _, err := c.Exchange(m, at.String())
	if err != nil {
		return "", err
	}
	words := []string{dns.RcodeToString[r.Rcode]}
	if r.AuthenticatedData {
		words = append(words, "secure")
	}
	for _, rr := range r.Answer {
		if rr.Header().Rrtype == rrtype {
			words = append(words, strings.Fields(rr.String())[4])
		}
	}
	return strings.Join(words, " "), nil
}

// signedNames is every kind of name and of what is not there, and what a resolver is to say.
var signedNames = []struct {
	name   string
	rrtype uint16
	want   string
}{
	{"www.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.[129]"},
	{"WwW.ok.test.", dns.TypeAAAA, "NOERROR secure 2001:db8::1"},
	{"www.ok.test.", dns.TypeHTTPS, "NOERROR secure 1"},
	{"www.ok.test.", dns.TypeMX, "NOERROR secure$"},
	{"ok.test.", dns.TypeA, "NOERROR secure 192.0.2.[129]"},
	{"ok.test.", dns.TypeSOA, "NOERROR secure ns1.ok.test."},
	{"ok.test.", dns.TypeDNSKEY, "NOERROR secure 257"},
	{"ok.test.", dns.TypeCDS, "NOERROR secure"},
	{"a.vid.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.[129]"},
	{"a.b.vid.ok.test.", dns.TypeAAAA, "NOERROR secure 2001:db8::1"},
	{"a.vid.ok.test.", dns.TypeTXT, "NOERROR secure$"},
	{"vid.ok.test.", dns.TypeA, "NOERROR secure$"},
	{"four.ok.test.", dns.TypeAAAA, "NOERROR secure$"},
	{"all.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.\\d 192.0.2.\\d 192.0.2.\\d"},
	{"see.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.[129]"},
	{"_sip._udp.ok.test.", dns.TypeSRV, "NOERROR secure 0 0"},
	{"_sip._udp.ok.test.", dns.TypeA, "NOERROR secure$"},
	{"upper.ok.test.", dns.TypeMX, "NOERROR secure 10"},
	{"long.ok.test.", dns.TypeTXT, "NOERROR secure"},
	{"alias.ok.test.", dns.TypeAAAA, "NOERROR secure 2001:db8::1"},
	{"b.ent.ok.test.", dns.TypeA, "NOERROR secure$"},
	{"x.wild.ok.test.", dns.TypeTXT, "NOERROR secure \"w\""},
	{"x.wild.ok.test.", dns.TypeA, "NOERROR secure$"},
	{"*.wild.ok.test.", dns.TypeTXT, "NOERROR secure \"w\""},
	{"q.led.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.[129]"},
	{"x.old.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.77"},
	{"nothing.ok.test.", dns.TypeA, "(NXDOMAIN|NOERROR) secure$"},
	{"x.y.z.ok.test.", dns.TypeTXT, "(NXDOMAIN|NOERROR) secure$"},
	{"lost.ok.test.", dns.TypeA, "(NXDOMAIN|NOERROR) secure$"},
	{"y.old.ok.test.", dns.TypeA, "(NXDOMAIN|NOERROR) secure$"},
	{"bare.ok.test.", dns.TypeDS, "NOERROR secure$"},
	{"www.bare.ok.test.", dns.TypeA, "NOERROR 192.0.2.81"},
	{"safe.ok.test.", dns.TypeDS, "NOERROR secure"},
	{"www.safe.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.82"},
	{"no.safe.ok.test.", dns.TypeA, "NXDOMAIN secure$"},
}

// unbound, BIND and delv believe every answer and every denial, of each kind.
func TestValidatorsBelieveEverything(t *testing.T) {
	for _, denial := range []string{"nsec", "nsec3", "compact"} {
		t.Run(denial, func(t *testing.T) {
			s := newSignedServer(t, denial, "3600")
			for resolver, at := range s.validators() {
				rig.Until(t, rig.Soon, "NOERROR secure 192.0.2.53", func() string {
					got, err := believed(at, "ns1.ok.test.", dns.TypeA)
					if err != nil {
						return err.Error()
					}
					return got
				})
				for _, n := range signedNames {
					if got, err := believed(at, n.name, n.rrtype); err != nil || !regexp.MustCompile("^"+n.want).MatchString(got) {
						t.Errorf("%s: %s %s: %s, want %s (%v)", resolver, n.name, dns.Type(n.rrtype), got, n.want, err)
					}
				}
			}
			s.delv()
		})
	}
}

// delv asks our server itself.
func (s *signedServer) delv() {
	s.t.Helper()
	words := strings.Fields(s.trust)
	anchors := filepath.Join(s.p.folder, "anchors")
	s.p.write("anchors", fmt.Sprintf("trust-anchors { ok.test. static-key %s %s %s \"%s\"; };\n", words[0], words[1], words[2], strings.Join(words[3:], "")))
	for _, question := range []string{"www.ok.test A", "www.ok.test HTTPS", "a.vid.ok.test A", "nothing.ok.test A", "www.ok.test MX", "x.wild.ok.test A", "x.old.ok.test A"} {
		out := run(s.t, rig.Installed(s.t, "delv", "bind9-dnsutils"), append([]string{"@" + s.at.Addr().String(), "-p", fmt.Sprint(s.at.Port()), "-a", anchors, "+root=ok.test"}, strings.Fields(question)...)...)
		if !strings.Contains(out, "fully validated") {
			s.t.Errorf("delv %s:\n%s", question, out)
		}
	}
}

func zoneName(t *testing.T, s string) zone.Name {
	t.Helper()
	n, err := zone.ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// unboundAnswer is what a resolver that trusts a key says of an address.
func unboundAnswer(t *testing.T, ours netip.AddrPort, trust string) (got string) {
	t.Helper()
	at := unbound(t, ours, fmt.Sprintf("  trust-anchor: \"ok.test. DNSKEY %s\"", trust), "  module-config: \"validator iterator\"")
	answers(t, at, "ns2.ok.test.", dns.TypeA)
	got, err := believed(at, "ns1.ok.test.", dns.TypeA)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
