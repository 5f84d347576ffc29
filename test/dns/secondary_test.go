package dns

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// Real secondaries take a zone from us by a signed transfer, with the addresses that its services have now, and answer
// from it as we do.
func TestOthersAreOurSecondaries(t *testing.T) {
	for _, peer := range []struct {
		name  string
		start func(t *testing.T, from netip.AddrPort) netip.AddrPort
	}{
		{"Knot", func(t *testing.T, from netip.AddrPort) netip.AddrPort {
			return knot(t, fmt.Sprintf(`key:
  - id: xfr
    algorithm: hmac-sha256
    secret: %s
remote:
  - id: ours
    address: %s@%d
    key: xfr
zone:
  - domain: ok.test
    master: ours
`, secret, from.Addr(), from.Port()))
		}},
		{"NSD", func(t *testing.T, from netip.AddrPort) netip.AddrPort {
			return nsd(t, fmt.Sprintf(`key:
  name: "xfr"
  algorithm: hmac-sha256
  secret: "%s"
zone:
  name: ok.test
  zonefile: ok.test.zone
  request-xfr: AXFR %s@%d xfr
  allow-notify: 127.0.0.0/8 NOKEY
`, secret, from.Addr(), from.Port()))
		}},
		{"BIND", func(t *testing.T, from netip.AddrPort) netip.AddrPort {
			return bind(t, keyFile, "recursion no;", fmt.Sprintf(`zone "ok.test" { type secondary; file "ok.test.zone"; masterfile-format text; primaries { %s port %d key xfr; }; };`, from.Addr(), from.Port()))
		}},
	} {
		t.Run(peer.name, func(t *testing.T) {
			from, _ := servedServices(t)
			at := peer.start(t, from)
			answers(t, at, "ok.test.", dns.TypeSOA)
			ours, theirs := newClient(t, from), newClient(t, at)
			has := build(t, asked{name: "ok.test.", rrtype: dns.TypeSOA, class: dns.ClassINET, stream: true, words: []string{"+tcp"}})
			rig.Until(t, rig.Soon, "NOERROR", func() string { // by this connection: NSD's process from before the transfer may have it
				theirs.close()
				got, err := hear(theirs.ask(has.packet, true))
				if err != nil {
					return err.Error()
				}
				return got.rcode
			})
			for _, name := range []string{"ok.test.", "www.ok.test.", "a.b.vid.ok.test.", "*.vid.ok.test.", "vid.ok.test.", "ns1.ok.test.", "mail.ok.test.", "long.ok.test.", "nothing.ok.test."} {
				for _, rrtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeSOA, dns.TypeNS, dns.TypeMX, dns.TypeTXT} {
					q := build(t, asked{name: name, rrtype: rrtype, class: dns.ClassINET, stream: true, words: []string{"+tcp"}})
					want, err := hear(ours.ask(q.packet, true))
					if err != nil {
						t.Fatal(err)
					}
					got, err := hear(theirs.ask(q.packet, true))
					if err != nil || got.rcode != want.rcode || !slices.Equal(got.answer, want.answer) || want.rcode == "NOERROR" && rrtype == dns.TypeA && strings.HasPrefix(name, "www") && len(got.answer) != 1 {
						t.Errorf("%s: %v\nours   %s\ntheirs %s", q, err, want, got)
					}
				}
			}
		})
	}
}
