package dns_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	mdns "github.com/miekg/dns"

	"gslb/dns"
)

const soa = "ok.test. 60 IN SOA ns1.ok.test. hostmaster.ok.test. 7 3600 600 604800 60\n"

func TestAnswers(t *testing.T) {
	s := snapshot(t)
	negative := func(rcode string) string { return rcode + " aa\nauthority: " + soa }
	for _, tc := range []struct{ name, ask, from, want string }{
		{"service", "www.ok.test. A", "", "NOERROR aa\nanswer: www.ok.test. 300 IN A 192.0.2.1\n"},
		{"service in IPv6", "www.ok.test. AAAA", "", "NOERROR aa\nanswer: www.ok.test. 300 IN AAAA 2001:db8::1\n"},
		{"service at the apex", "ok.test. A", "", "NOERROR aa\nanswer: ok.test. 300 IN A 192.0.2.1\n"},
		{"service by wildcard", "x.y.vid.ok.test. A", "", "NOERROR aa\nanswer: x.y.vid.ok.test. 20 IN A 192.0.2.1\n"},
		{"service by a partner's address", "cdn.ok.test. A", "203.0.113.9",
			"NOERROR aa\nanswer: cdn.ok.test. 20 IN A 198.51.100.1\nanswer: cdn.ok.test. 20 IN A 198.51.100.2\n"},
		{"case of the question is kept", "WwW.oK.TesT. A", "", "NOERROR aa\nanswer: WwW.oK.TesT. 300 IN A 192.0.2.1\n"},
		{"data beside a service", "www.ok.test. TXT", "", "NOERROR aa\nanswer: www.ok.test. 3600 IN TXT \"beside the service\"\n"},
		{"family that a service lacks", "four.ok.test. AAAA", "", negative("NOERROR")},
		{"NODATA of a service is no older than its answers", "cdn.ok.test. AAAA", "", strings.Replace(negative("NOERROR"), "60 IN SOA", "20 IN SOA", 1)},
		{"other type at a service", "cdn.ok.test. MX", "", strings.Replace(negative("NOERROR"), "60 IN SOA", "20 IN SOA", 1)},
		{"static name", "ns1.ok.test. A", "", "NOERROR aa\nanswer: ns1.ok.test. 3600 IN A 192.0.2.53\n"},
		{"addresses of a mail exchanger", "mail.ok.test. MX", "",
			"NOERROR aa\nanswer: mail.ok.test. 3600 IN MX 10 ns1.ok.test.\nadditional: ns1.ok.test. 3600 IN A 192.0.2.53\nadditional: ns1.ok.test. 3600 IN AAAA 2001:db8::53\n"},
		{"service of aliases", "led.ok.test. A", "", "NOERROR aa\nanswer: led.ok.test. 40 IN CNAME cdn.example.\n"},
		{"service of aliases, another type", "led.ok.test. MX", "", "NOERROR aa\nanswer: led.ok.test. 40 IN CNAME cdn.example.\n"},
		{"service of aliases by wildcard", "x.led.ok.test. TXT", "", "NOERROR aa\nanswer: x.led.ok.test. 40 IN CNAME cdn.example.\n"},
		{"service of aliases, the alias itself", "led.ok.test. CNAME", "203.0.113.9", "NOERROR aa\nanswer: led.ok.test. 40 IN CNAME ns1.ok.test.\n"},
		{"service of aliases, any type", "led.ok.test. ANY", "", "NOERROR aa\nanswer: led.ok.test. 40 IN CNAME cdn.example.\n"},
		{"service of aliases, into the zone", "led.ok.test. A", "203.0.113.9", "NOERROR aa\nanswer: led.ok.test. 40 IN CNAME ns1.ok.test.\nanswer: ns1.ok.test. 3600 IN A 192.0.2.53\n"},
		{"service of aliases, to another service", "inner.ok.test. AAAA", "", "NOERROR aa\nanswer: inner.ok.test. 60 IN CNAME www.ok.test.\nanswer: www.ok.test. 300 IN AAAA 2001:db8::1\n"},
		{"service of hosts and ports", "_sip._udp.ok.test. SRV", "",
			"NOERROR aa\nanswer: _sip._udp.ok.test. 60 IN SRV 0 7 5060 ns1.ok.test.\nanswer: _sip._udp.ok.test. 60 IN SRV 0 100 5061 b.example.\nadditional: ns1.ok.test. 3600 IN A 192.0.2.53\nadditional: ns1.ok.test. 3600 IN AAAA 2001:db8::53\n"},
		{"service of hosts and ports, another type", "_sip._udp.ok.test. A", "", negative("NOERROR")},
		{"HTTPS of a service, for a partner's client", "cdn.ok.test. HTTPS", "203.0.113.9",
			"NOERROR aa\nanswer: cdn.ok.test. 20 IN HTTPS 1 . alpn=\"h3,h2\" port=\"8443\" ipv4hint=\"198.51.100.1,198.51.100.2\"\n"},
		{"HTTPS of a service by wildcard", "x.vid.ok.test. HTTPS", "", "NOERROR aa\nanswer: x.vid.ok.test. 20 IN HTTPS 1 . alpn=\"h3,h2\" port=\"8443\" ipv4hint=\"192.0.2.1\"\n"},
		{"HTTPS of a service when nothing serves", "dead.ok.test. HTTPS", "", "NOERROR aa\nanswer: dead.ok.test. 30 IN HTTPS 1 . alpn=\"h2\" ipv4hint=\"192.0.2.66\"\n"},
		{"HTTPS of a service without it", "www.ok.test. HTTPS", "", negative("NOERROR")},
		{"address of a service host", "srv.ok.test. SRV", "",
			"NOERROR aa\nanswer: srv.ok.test. 3600 IN SRV 1 2 443 ns1.ok.test.\nadditional: ns1.ok.test. 3600 IN A 192.0.2.53\nadditional: ns1.ok.test. 3600 IN AAAA 2001:db8::53\n"},
		{"address of a binding that names itself", "bind.ok.test. HTTPS", "",
			"NOERROR aa\nanswer: bind.ok.test. 3600 IN HTTPS 1 . alpn=\"h2\"\nadditional: bind.ok.test. 3600 IN A 192.0.2.44\n"},
		{"address of a binding", "bound.ok.test. HTTPS", "",
			"NOERROR aa\nanswer: bound.ok.test. 3600 IN HTTPS 1 bind.ok.test. alpn=\"h2\"\nadditional: bind.ok.test. 3600 IN A 192.0.2.44\n"},
		{"address of a binding's alias", "renamed.ok.test. HTTPS", "",
			"NOERROR aa\nanswer: renamed.ok.test. 3600 IN HTTPS 0 bind.ok.test.\nadditional: bind.ok.test. 3600 IN A 192.0.2.44\nadditional: bind.ok.test. 3600 IN HTTPS 1 . alpn=\"h2\"\n"},
		{"SOA", "ok.test. SOA", "", "NOERROR aa\nanswer: ok.test. 3600 IN SOA ns1.ok.test. hostmaster.ok.test. 7 3600 600 604800 60\n"},
		{"no such name", "nope.ok.test. A", "", negative("NXDOMAIN")},
		{"no such data", "ns1.ok.test. MX", "", negative("NOERROR")},
		{"empty non-terminal", "ent.ok.test. TXT", "", negative("NOERROR")},
		{"empty non-terminal below", "b.ent.ok.test. A", "", negative("NOERROR")},
		{"wildcard", "x.wild.ok.test. TXT", "", "NOERROR aa\nanswer: x.wild.ok.test. 3600 IN TXT \"wild\"\n"},
		{"wildcard without the type", "x.wild.ok.test. A", "", negative("NOERROR")},
		{"the wildcard itself", "*.wild.ok.test. TXT", "", "NOERROR aa\nanswer: *.wild.ok.test. 3600 IN TXT \"wild\"\n"},
		{"alias to a service", "alias.ok.test. A", "", "NOERROR aa\nanswer: alias.ok.test. 3600 IN CNAME www.ok.test.\nanswer: www.ok.test. 300 IN A 192.0.2.1\n"},
		{"alias of an alias", "deep.ok.test. A", "",
			"NOERROR aa\nanswer: deep.ok.test. 3600 IN CNAME alias.ok.test.\nanswer: alias.ok.test. 3600 IN CNAME www.ok.test.\nanswer: www.ok.test. 300 IN A 192.0.2.1\n"},
		{"alias by wildcard", "q.alias2.ok.test. AAAA", "", "NOERROR aa\nanswer: q.alias2.ok.test. 3600 IN CNAME www.ok.test.\nanswer: www.ok.test. 300 IN AAAA 2001:db8::1\n"},
		{"the alias itself", "alias.ok.test. CNAME", "", "NOERROR aa\nanswer: alias.ok.test. 3600 IN CNAME www.ok.test.\n"},
		{"alias out of the zone", "away.ok.test. A", "", "NOERROR aa\nanswer: away.ok.test. 3600 IN CNAME www.example.\n"},
		{"alias to nothing", "broken.ok.test. A", "", "NXDOMAIN aa\nanswer: broken.ok.test. 3600 IN CNAME nothing.ok.test.\nauthority: " + soa},
		{"referral", "www.child.ok.test. A", "",
			"NOERROR\nauthority: child.ok.test. 3600 IN NS ns.child.ok.test.\nauthority: child.ok.test. 3600 IN NS ns1.example.\nadditional: ns.child.ok.test. 3600 IN A 192.0.2.99\n"},
		{"referral for the glue", "ns.child.ok.test. A", "",
			"NOERROR\nauthority: child.ok.test. 3600 IN NS ns.child.ok.test.\nauthority: child.ok.test. 3600 IN NS ns1.example.\nadditional: ns.child.ok.test. 3600 IN A 192.0.2.99\n"},
		{"DS is the parent's", "child.ok.test. DS", "", "NOERROR aa\nanswer: child.ok.test. 3600 IN DS 1 13 2 0000000000000000000000000000000000000000000000000000000000000000\n"},
		{"DNAME", "x.old.ok.test. A", "",
			"NOERROR aa\nanswer: old.ok.test. 3600 IN DNAME new.ok.test.\nanswer: x.old.ok.test. 3600 IN CNAME x.new.ok.test.\nanswer: x.new.ok.test. 3600 IN A 192.0.2.77\n"},
		{"DNAME at its own name", "old.ok.test. A", "", negative("NOERROR")},
		{"alias into a closer zone, which is not delegated", "into.ok.test. A", "", "NOERROR aa\nanswer: into.ok.test. 3600 IN CNAME host.sub.ok.test.\n"},
		{"DS of a zone that is not delegated", "sub.ok.test. DS", "", negative("NOERROR")},
		{"the closer of two zones", "host.sub.ok.test. A", "", "NOERROR aa\nanswer: host.sub.ok.test. 3600 IN A 192.0.2.88\n"},
		{"a type that is in no zone", "ns1.ok.test. TSIG", "", negative("NOERROR")},
		{"any of a static name", "ns1.ok.test. ANY", "", "NOERROR aa\nanswer: ns1.ok.test. 3600 IN A 192.0.2.53\n"},
		{"any of a service", "cdn.ok.test. ANY", "", "NOERROR aa\nanswer: cdn.ok.test. 20 IN HINFO \"RFC8482\" \"\"\n"},
		{"not our zone", "example.com. A", "", "REFUSED\n"},
		{"the root", ". NS", "", "REFUSED\n"},
		{"another class", "www.ok.test. A HS", "", "REFUSED\n"},
		{"transfer", "ok.test. AXFR +tcp", "", "REFUSED\n"},
		{"transfer in one packet", "ok.test. AXFR", "", "NOTIMP\n"},
		{"transfer of a name in a zone", "www.ok.test. AXFR +tcp", "", "NOTAUTH\n"},
		{"transfer of a zone that is not ours", "example. IXFR", "", "NOTAUTH\n"},
		{"bits of the question", "www.ok.test. A +rd +cd", "", "NOERROR aa rd\nanswer: www.ok.test. 300 IN A 192.0.2.1\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from := tc.from
			if from == "" {
				from = "192.88.99.1"
			}
			packet, stream := question(t, tc.ask)
			if got := ask(t, s, from, packet, stream); got != tc.want {
				t.Errorf("%s\ngot:\n%swant:\n%s", tc.ask, got, tc.want)
			}
		})
	}
}

func TestEDNS(t *testing.T) {
	s := snapshot(t)
	const www = "NOERROR aa\nanswer: www.ok.test. 300 IN A 192.0.2.1\n"
	for _, tc := range []struct{ name, ask, want string }{
		{"no OPT unasked", "www.ok.test. A", www},
		{"OPT", "www.ok.test. A +edns=4096", www + "additional: OPT size=1232 version=0\n"},
		{"DO is copied", "www.ok.test. A +do", www + "additional: OPT size=1232 version=0 do\n"},
		{"NSID", "www.ok.test. A +nsid", www + "additional: OPT size=1232 version=0 nsid=6e7331\n"},
		{"scope 0 of what does not depend on the client", "www.ok.test. A +ecs=203.0.113.0/24", www + "additional: OPT size=1232 version=0 ecs=203.0.113.0/24/0\n"},
		{"scope of a partner's network", "cdn.ok.test. A +ecs=203.0.113.0/25",
			"NOERROR aa\nanswer: cdn.ok.test. 20 IN A 198.51.100.1\nanswer: cdn.ok.test. 20 IN A 198.51.100.2\nadditional: OPT size=1232 version=0 ecs=203.0.113.0/25/24\n"},
		{"scope outside", "cdn.ok.test. A +ecs=198.18.0.0/16", "NOERROR aa\nanswer: cdn.ok.test. 20 IN A 192.0.2.1\nadditional: OPT size=1232 version=0 ecs=198.18.0.0/16/5\n"},
		{"scope through an alias", "alias.ok.test. A +ecs=198.18.0.0/16",
			"NOERROR aa\nanswer: alias.ok.test. 3600 IN CNAME www.ok.test.\nanswer: www.ok.test. 300 IN A 192.0.2.1\nadditional: OPT size=1232 version=0 ecs=198.18.0.0/16/0\n"},
		{"scope of NODATA of a service", "cdn.ok.test. AAAA +ecs=203.0.113.0/24",
			"NOERROR aa\nauthority: " + strings.Replace(soa, "60 IN SOA", "20 IN SOA", 1) + "additional: OPT size=1232 version=0 ecs=203.0.113.0/24/24\n"},
		{"scope of a service of aliases", "led.ok.test. A +ecs=203.0.113.0/26",
			"NOERROR aa\nanswer: led.ok.test. 40 IN CNAME ns1.ok.test.\nanswer: ns1.ok.test. 3600 IN A 192.0.2.53\nadditional: OPT size=1232 version=0 ecs=203.0.113.0/26/24\n"},
		{"scope of NXDOMAIN", "nope.ok.test. A +ecs=203.0.113.0/24", "NXDOMAIN aa\nauthority: " + soa + "additional: OPT size=1232 version=0 ecs=203.0.113.0/24/0\n"},
		{"source length 0", "cdn.ok.test. A +ecs=0.0.0.0/0", "NOERROR aa\nanswer: cdn.ok.test. 20 IN A 192.0.2.1\nadditional: OPT size=1232 version=0 ecs=0.0.0.0/0/0\n"},
		{"bogus subnet", "cdn.ok.test. A +ecs=10.0.0.0/8", "NOERROR aa\nanswer: cdn.ok.test. 20 IN A 192.0.2.1\nadditional: OPT size=1232 version=0 ecs=10.0.0.0/8/8\n"},
		{"IPv6 subnet", "cdn.ok.test. A +ecs=2001:db8::/56", "NOERROR aa\nanswer: cdn.ok.test. 20 IN A 192.0.2.1\nadditional: OPT size=1232 version=0 ecs=2001:db8::/56/21\n"},
		{"refused with ECS", "example. A +ecs=203.0.113.0/24", "REFUSED\nadditional: OPT size=1232 version=0 ecs=203.0.113.0/24/0 ede=20\n"},
		{"too long without EDNS", "big.ok.test. TXT", "NOERROR aa tc\n"},
		{"too long with EDNS", "big.ok.test. TXT +edns=4096 +ecs=203.0.113.0/24", "NOERROR aa tc\nadditional: OPT size=1232 version=0 ecs=203.0.113.0/24/0\n"},
		{"a transfer is prohibited", "ok.test. AXFR +edns=1232 +tcp", "REFUSED\nadditional: OPT size=1232 version=0 ede=18\n"},
		{"reasons are prohibited", "www.ok.test. TXT CH +edns=1232", "REFUSED\nadditional: OPT size=1232 version=0 ede=18\n"},
		{"nothing serves", "dead.ok.test. A +edns=1232", "NOERROR aa\nanswer: dead.ok.test. 30 IN A 192.0.2.66\nadditional: OPT size=1232 version=0 ede=0 no place of this service is healthy\n"},
		{"nothing serves and no EDNS", "dead.ok.test. A", "NOERROR aa\nanswer: dead.ok.test. 30 IN A 192.0.2.66\n"},
		{"how long a connection is kept", "www.ok.test. A +tcp +keepalive", www + "additional: OPT size=1232 version=0 keepalive=100\n"},
		{"there is no connection to keep", "www.ok.test. A +keepalive", www + "additional: OPT size=1232 version=0\n"},
		{"a size below 512 is 512", "www.ok.test. A +edns=1", www + "additional: OPT size=1232 version=0\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			packet, stream := question(t, tc.ask)
			if got := ask(t, s, "192.88.99.1", packet, stream); got != tc.want {
				t.Errorf("%s\ngot:\n%swant:\n%s", tc.ask, got, tc.want)
			}
		})
	}
}

func TestCookies(t *testing.T) {
	s := snapshot(t)
	reply := func(t *testing.T, packet []byte) *mdns.Msg {
		t.Helper()
		m := new(mdns.Msg)
		if err := m.Unpack(dns.NewResponder("ns1", "test").Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: noon}, nil)); err != nil {
			t.Fatal(err)
		}
		return m
	}
	cookieIn := func(m *mdns.Msg) string {
		for _, option := range m.IsEdns0().Option {
			if c, ok := option.(*mdns.EDNS0_COOKIE); ok {
				return c.Cookie
			}
		}
		return ""
	}
	client, foreign := "2464c4abcf10c957", strings.Repeat("00", 8)
	for _, tc := range []struct {
		name, cookie, rcode string
		given, questions    int
	}{
		{"from a client that is new", client, "NOERROR", 24, 1},
		{"with a server cookie that is not ours", client + foreign, "NOERROR", 24, 1},
		{"with the longest server cookie", client + strings.Repeat("00", 32), "NOERROR", 24, 1},
		{"too short for a client's", client[2:], "FORMERR", 0, 1},
		{"too short for a server's", client + foreign[2:], "FORMERR", 0, 1},
		{"too long", client + strings.Repeat("00", 33), "FORMERR", 0, 1},
		{"without a question, to learn ours", client, "NOERROR", 24, 0},
		{"without a question, and not ours", client + foreign, "BADCOOKIE", 24, 0},
		{"without a question, and malformed", client[2:], "FORMERR", 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			packet, _ := question(t, "www.ok.test. A +cookie="+tc.cookie)
			if tc.questions == 0 {
				end := 12 + len("\x03www\x02ok\x04test\x00") + 4
				packet = append(append([]byte(nil), packet[:12]...), packet[end:]...)
				packet[5] = 0
			}
			m := reply(t, packet)
			got := cookieIn(m)
			if mdns.RcodeToString[m.Rcode] != tc.rcode || len(got) != 2*tc.given || tc.given > 0 && !strings.HasPrefix(got, client) || len(m.Question) != tc.questions {
				t.Errorf("cookie %q in\n%s", got, m)
			}
		})
	}
}

func TestWithoutCookiesThereIsNoneToLearn(t *testing.T) {
	s := snapshotOf(t, strings.Replace(text, "server: {", "server: {cookies: false, ", 1))
	packet, _ := question(t, "www.ok.test. A +cookie=2464c4abcf10c957")
	if got := ask(t, s, "192.88.99.1", packet, false); !strings.HasPrefix(got, "NOERROR aa\n") || strings.Contains(got, "cookie") {
		t.Error(got)
	}
	end := 12 + len("\x03www\x02ok\x04test\x00") + 4
	packet = append(append([]byte(nil), packet[:12]...), packet[end:]...)
	packet[5] = 0
	if got := ask(t, s, "192.88.99.1", packet, false); got != "FORMERR\nadditional: OPT size=1232 version=0\n" {
		t.Error(got)
	}
}

func TestHostOfTwoPlacesIsAddedOnce(t *testing.T) {
	s := snapshotOf(t, strings.Replace(text, "srv: {target: b.example, port: 5061}", "srv: {target: ns1.ok.test, port: 5061}", 1))
	packet, _ := question(t, "_sip._udp.ok.test. SRV")
	if got := ask(t, s, "192.88.99.1", packet, false); strings.Count(got, "answer: ") != 2 || strings.Count(got, "192.0.2.53") != 1 {
		t.Error(got)
	}
}

func TestLongAnswersComeWholeOverTCP(t *testing.T) {
	packet, stream := question(t, "big.ok.test. TXT +tcp")
	if got := ask(t, snapshot(t), "192.88.99.1", packet, stream); !strings.HasPrefix(got, "NOERROR aa\n") || len(got) < 9*250 {
		t.Errorf("got %d octets: %.100s", len(got), got)
	}
}

// What a zone may hold can be sent: here an RRset of the most addresses that a zone takes.
func TestLongestAnswerIsSentWhole(t *testing.T) {
	const most = 4093
	var records strings.Builder
	for i := range most {
		fmt.Fprintf(&records, "      big A 10.0.%d.%d\n", i>>8, i&255)
	}
	s := snapshotOf(t, strings.Replace(text, "      big      TXT   BIG\n", records.String(), 1))
	packet, stream := question(t, "big.ok.test. A +tcp +edns=1232")
	if got := ask(t, s, "192.88.99.1", packet, stream); !strings.HasPrefix(got, "NOERROR aa\n") || strings.Count(got, "answer:") != most {
		t.Errorf("%d records: %.100s", strings.Count(got, "answer:"), got)
	}
}

// The owner of every record is a pointer to the question here, so that even the longest name leaves room.
func TestLongNamesFitOneDatagram(t *testing.T) {
	packet, stream := question(t, strings.Repeat("a.", 120)+"wild.ok.test. TXT")
	if got := ask(t, snapshot(t), "192.88.99.1", packet, stream); !strings.HasPrefix(got, "NOERROR aa\n") || !strings.Contains(got, `TXT "wild"`) {
		t.Errorf("got:\n%s", got)
	}
}

func TestMostAddressesFitOneDatagram(t *testing.T) {
	for _, qtype := range []string{"A", "AAAA"} {
		packet, stream := question(t, "many.ok.test. "+qtype+" +edns=1232")
		if got := ask(t, snapshot(t), "192.88.99.1", packet, stream); strings.Count(got, "\nanswer:") != 32 {
			t.Errorf("%s: %s", qtype, got)
		}
	}
}

func TestAliasLoopEnds(t *testing.T) {
	for _, tc := range []struct{ name, ask, want string }{
		{"two names", "loop1.ok.test. A", "NOERROR aa\nanswer: loop1.ok.test. 3600 IN CNAME loop2.ok.test.\nanswer: loop2.ok.test. 3600 IN CNAME loop1.ok.test.\n"},
		{"one name", "self.ok.test. A", "NOERROR aa\nanswer: self.ok.test. 3600 IN CNAME self.ok.test.\n"},
		{"by a wildcard", "y.turn.ok.test. A", "NOERROR aa\nanswer: y.turn.ok.test. 3600 IN CNAME x.turn.ok.test.\nanswer: x.turn.ok.test. 3600 IN CNAME x.turn.ok.test.\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			packet, _ := question(t, tc.ask)
			if got := ask(t, snapshot(t), "192.88.99.1", packet, false); got != tc.want {
				t.Errorf("got:\n%swant:\n%s", got, tc.want)
			}
		})
	}
}

func TestDNAMEIsGivenOnce(t *testing.T) {
	packet, _ := question(t, "a.grow.ok.test. A")
	got := ask(t, snapshot(t), "192.88.99.1", packet, false)
	if strings.Count(got, "IN DNAME") != 1 || !strings.Contains(got, "answer: a.x.grow.ok.test. 3600 IN CNAME a.x.x.grow.ok.test.\n") {
		t.Errorf("got:\n%s", got)
	}
}

func TestReasonsOverDNS(t *testing.T) {
	s := snapshot(t)
	for _, tc := range []struct{ name, ask, from, want string }{
		{"reasons", "cdn.ok.test. TXT CH +ecs=203.0.113.0/24", "127.0.0.1", `NOERROR aa
answer: cdn.ok.test. 0 CH TXT "client=203.0.113.0/24 via=ecs"
answer: cdn.ok.test. 0 CH TXT "name=cdn.ok.test service=cdn answer=\"198.51.100.1 198.51.100.2\" ttl=20 scope=24"
answer: cdn.ok.test. 0 CH TXT "placed=partners partner=p prefix=203.0.113.0/24 peer=static"
answer: cdn.ok.test. 0 CH TXT "place=s tier=1 verdict=chosen"
answer: cdn.ok.test. 0 CH TXT "place=a tier=2 verdict=spare"
answer: cdn.ok.test. 0 CH TXT "version config=1:HASH health=1 routes=1 geo=1"
additional: OPT size=1232 version=0 ecs=203.0.113.0/24/24
`},
		{"not for everybody", "cdn.ok.test. TXT CH", "192.88.99.1", "REFUSED\n"},
		{"not of other zones", "example. TXT CH", "127.0.0.1", "REFUSED\n"},
		{"not of other types", "cdn.ok.test. A CH", "127.0.0.1", "REFUSED\n"},
		{"the server's version", "version.bind. TXT CH", "192.88.99.1", "NOERROR aa\nanswer: version.bind. 0 CH TXT \"gslb test\"\n"},
		{"the server's name", "hostname.bind. TXT CH", "192.88.99.1", "NOERROR aa\nanswer: hostname.bind. 0 CH TXT \"ns1\"\n"},
		{"the server's name again", "ID.server. TXT CH", "192.88.99.1", "NOERROR aa\nanswer: ID.server. 0 CH TXT \"ns1\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			packet, stream := question(t, tc.ask)
			want := strings.ReplaceAll(tc.want, "HASH", s.Version().Hash)
			if got := ask(t, s, tc.from, packet, stream); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func TestWhatIsNoGoodQuestion(t *testing.T) {
	s := snapshot(t)
	good, _ := question(t, "www.ok.test. A +ecs=203.0.113.0/24")
	plain, _ := question(t, "www.ok.test. A")
	opt := good[len(plain):]
	edit := func(packet []byte, f func([]byte) []byte) []byte { return f(append([]byte(nil), packet...)) }
	set16 := func(at int, v uint16) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint16(b[at:], v); return b }
	}
	setOPT := func(at int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[len(plain)+at] = v; return b }
	}
	const noOptions = "FORMERR\nadditional: OPT size=1232 version=0\n"
	const ecs = 15 // offset of the option's data in the OPT record
	for _, tc := range []struct {
		name   string
		packet []byte
		want   string
	}{
		{"nothing", nil, "silence\n"},
		{"half a header", plain[:11], "silence\n"},
		{"a response", edit(plain, set16(2, 0x8000)), "silence\n"},
		{"a header alone", edit(plain[:12], set16(4, 0)), "FORMERR\n"},
		{"no question", edit(plain, set16(4, 0)), "FORMERR\n"},
		{"two questions", edit(plain, set16(4, 2)), "FORMERR\n"},
		{"two questions with OPT", edit(append(append(append([]byte(nil), plain...), plain[12:]...), opt...), func(b []byte) []byte { return set16(10, 1)(set16(4, 2)(b)) }), noOptions},
		{"two questions of which one is missing", edit(good, set16(4, 2)), "FORMERR\n"},
		{"a compressed question with OPT", edit(append(append([]byte(nil), plain[:12]...), 0xc0, 12, 0, 1, 0, 1), func(b []byte) []byte { return append(set16(10, 1)(b), opt...) }), noOptions},
		{"a question that is too long, with OPT", edit(append(append([]byte(nil), plain[:12]...), bytes.Repeat([]byte("\x01a"), 128)...), func(b []byte) []byte { return append(append(set16(10, 1)(b), 0, 0, 1, 0, 1), opt...) }), noOptions},
		{"a label of a kind that there is not, with OPT", edit(good, func(b []byte) []byte { b[12] = 0x43; return b }), "FORMERR\n"},
		{"OPT behind TSIG in the answer section", edit(append(append(append([]byte(nil), plain...), 0, 0, 250, 0, 255, 0, 0, 0, 0, 0, 0), opt...), func(b []byte) []byte { return set16(10, 1)(set16(6, 1)(b)) }), noOptions},
		{"a question that ends early", plain[:20], "FORMERR\n"},
		{"a question without its class", plain[:len(plain)-2], "FORMERR\n"},
		{"a compressed question", edit(plain, func(b []byte) []byte { b[12] = 0xc0; return b }), "FORMERR\n"},
		{"octets behind the end", append(edit(plain, set16(2, 0)), 0), "FORMERR\n"},
		{"a record that is not there", edit(plain, set16(6, 1)), "FORMERR\n"},
		{"two OPT records", edit(append(append([]byte(nil), good...), opt...), set16(10, 2)), noOptions},
		{"OPT with a name", edit(good, setOPT(0, 1)), "FORMERR\n"},
		{"OPT in the answer section", edit(edit(good, set16(10, 0)), set16(6, 1)), "FORMERR\n"},
		{"EDNS version 1", edit(good, setOPT(6, 1)), "BADVERS\nadditional: OPT size=1232 version=0\n"},
		{"EDNS version 1 and nonsense", edit(good, func(b []byte) []byte { b[len(plain)+6] = 1; b[len(b)-1] ^= 0xff; return b[:len(b)-1] }), "FORMERR\n"},
		{"an option that ends early", edit(good, setOPT(14, 200)), noOptions},
		{"ECS of family 3", edit(good, setOPT(ecs+1, 3)), noOptions},
		{"ECS of family 0 with an address", edit(good, setOPT(ecs+1, 0)), noOptions},
		{"ECS with a scope", edit(good, setOPT(ecs+3, 24)), noOptions},
		{"ECS longer than the family", edit(good, setOPT(ecs+2, 33)), noOptions},
		{"ECS with bits behind its length", edit(good, setOPT(ecs+2, 23)), noOptions},
		{"ECS with an octet too few", edit(good, setOPT(ecs+2, 25)), noOptions},
		{"ECS with an octet too many", edit(good, setOPT(ecs+2, 8)), noOptions},
		{"opcode STATUS", edit(plain, set16(2, 2<<11)), "NOTIMP\n"},
		{"NOTIFY", edit(plain, set16(2, 4<<11)), "NOTIMP\n"},
		{"UPDATE", edit(plain, set16(2, 5<<11)), "NOTIMP\n"},
		{"UPDATE without anything", edit(edit(plain[:12], set16(2, 5<<11)), set16(4, 0)), "NOTIMP\n"},
		{"UPDATE with OPT", edit(good[:len(good)-11], func(b []byte) []byte { return set16(len(b)-2, 0)(set16(2, 5<<11)(b)) }), "NOTIMP\nadditional: OPT size=1232 version=0 ede=21\n"},
		{"no question with OPT", edit(append(append([]byte(nil), good[:12]...), 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0), set16(4, 0)), noOptions},
		{"EDNS version 1 with options in another form", edit(edit(good, setOPT(6, 1)), setOPT(14, 200)), "BADVERS\nadditional: OPT size=1232 version=0\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ask(t, s, "192.88.99.1", tc.packet, false); got != tc.want {
				t.Errorf("got:\n%swant:\n%s", got, tc.want)
			}
		})
	}
}

func TestFamilyZeroOfSourceLengthZero(t *testing.T) {
	packet, _ := question(t, "cdn.ok.test. A +ecs=0.0.0.0/0")
	packet[len(packet)-3] = 0 // as dig +subnet=0 sends it
	if got := ask(t, snapshot(t), "192.88.99.1", packet, false); !strings.HasPrefix(got, "NOERROR aa\n") || !strings.Contains(got, "/0/0") {
		t.Errorf("got:\n%s", got)
	}
}

// FuzzRespond sends anything: whatever comes back must be a response to just that.
func FuzzRespond(f *testing.F) {
	s := snapshot(f)
	for _, words := range []string{
		"www.ok.test. A", "cdn.ok.test. AAAA +ecs=203.0.113.0/24", "x.old.ok.test. A +do", "big.ok.test. TXT +edns=4096 +nsid",
		"cdn.ok.test. TXT CH", "www.child.ok.test. NS", "nope.ok.test. ANY", "version.bind. TXT CH",
		"www.ok.test. A +cookie=2464c4abcf10c957", "www.ok.test. A +cookie=2464c4abcf10c9570100000000000000aabbccddeeff0011 +keepalive",
		"renamed.ok.test. HTTPS +cd", "a.grow.ok.test. A", "loop1.ok.test. A", "many.ok.test. A", "ok.test. AXFR", "sub.ok.test. DS +ecs=2001:db8::/32",
	} {
		packet, _ := question(f, words)
		f.Add(packet, false)
		f.Add(packet, true)
	}
	signed := new(mdns.Msg)
	signed.SetQuestion("www.ok.test.", mdns.TypeA)
	signedBy("xfr.", mdns.HmacSHA256)(signed)
	packet, _, err := mdns.TsigGenerate(signed, secrets["xfr."], "", false)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packet, false)
	f.Fuzz(func(t *testing.T, packet []byte, stream bool) {
		checkReply(t, s, packet, stream)
	})
}
