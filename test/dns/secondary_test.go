package dns

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// secondary is another server that has the zone ok.test from us.
type secondary struct {
	name  string
	start func(t *testing.T, from netip.AddrPort) netip.AddrPort
}

// secondaries take the zone by signed transfers. Knot and BIND want to be told of changes by a signed message, NSD by one without.
func secondaries() []secondary {
	return []secondary{
		{"Knot", func(t *testing.T, from netip.AddrPort) netip.AddrPort {
			return knot(t, fmt.Sprintf(`key:
  - id: xfr
    algorithm: hmac-sha256
    secret: %s
remote:
  - id: ours
    address: %s@%d
    key: xfr
acl:
  - id: ours
    address: %s
    key: xfr
    action: notify
zone:
  - domain: ok.test
    master: ours
    acl: ours
`, secret, from.Addr(), from.Port(), from.Addr()))
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
	}
}

// Real secondaries take a zone from us by a signed transfer, with the addresses that its services have now, and answer
// from it as we do.
func TestOthersAreOurSecondaries(t *testing.T) {
	for _, peer := range secondaries() {
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

// They have a change long before the refresh time of an hour is over, since they are told of it.
func TestOurSecondariesAreTold(t *testing.T) {
	for _, peer := range secondaries() {
		t.Run(peer.name, func(t *testing.T) {
			from, p := servedServices(t)
			at := peer.start(t, from)
			answers(t, at, "ok.test.", dns.TypeSOA)
			theirs := newClient(t, at)
			serial := func() string { // over a new connection, since a process of NSD answers by the zone that it began with
				theirs.close()
				got, err := hear(theirs.ask(build(t, asked{name: "ok.test.", rrtype: dns.TypeSOA, class: dns.ClassINET, stream: true, words: []string{"+tcp"}}).packet, true))
				if err != nil {
					return err.Error()
				}
				return regexp.MustCompile(`20261130\d\d`).FindString(strings.Join(got.answer, " "))
			}
			rig.Until(t, rig.Soon, "2026113001", serial)
			told := fmt.Sprintf("keys: [xfr], notify: [{address: %q, key: xfr}]", at)
			if peer.name == "NSD" {
				told = fmt.Sprintf("keys: [xfr], notify: [%q]", at)
			}
			p.edit("gslb.yaml", "keys: [xfr]", told, "2026113001", "2026113002") // a secondary that is new, and so told of what there is
			rig.Until(t, rig.Soon, "2026113002", serial)
			p.edit("gslb.yaml", "2026113002", "2026113003")
			rig.Until(t, rig.Soon, "2026113003", serial)
		})
	}
}
