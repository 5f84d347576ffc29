package dns_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const text = `
server: {explain: [127.0.0.0/8], tsig_keys: testdata/tsig.keys}
datacenters: {a: {}, b: {}}
sites: {s: {}}
partners: {p: {site: s, networks: [203.0.113.0/24]}}
services:
  web:  {ttl: 300, steer: [datacenters], at: {a: [192.0.2.1, "2001:db8::1"]}}
  four: {steer: [datacenters], https: {alpn: [h2]}, at: {a: [192.0.2.4]}}
  cdn:  {ttl: 20, https: {alpn: [h3, h2], port: 8443}, at: {a: [192.0.2.1], s: [198.51.100.1, 198.51.100.2]}}
  dead: {steer: [datacenters], https: {alpn: [h2]}, all_down: [192.0.2.66], at: {a: [192.0.2.6]}}
  away: {steer: [partners, datacenters], ttl: 40, at: {a: {cname: cdn.example.}, s: {cname: NS1.ok.test.}}}
  inner: {steer: [datacenters], at: {a: {cname: www.ok.test}}}
  sip: {steer: [datacenters], answer: all, at: {a: {srv: {target: ns1.ok.test, port: 5060}, weight: 7}, b: {srv: {target: b.example, port: 5061}}}}
  many: {steer: [datacenters], answer: all, max_addresses: 32, at: {a: [MANY]}}
drains: [{target: a, service: dead, hard: true}]
zones:
  ok.test:
    soa: {mname: ns1, rname: hostmaster, serial: 7, minimum: 60}
    ns: [ns1, ns2.example.]
    transfer: {allow: [127.0.0.0/8], keys: [xfr]}
    records: |
      ns1      A     192.0.2.53
      ns1      AAAA  2001:db8::53
      mail     MX    10 ns1
      alias    CNAME www
      deep     CNAME alias
      away     CNAME www.example.
      broken   CNAME nothing
      loop1    CNAME loop2
      loop2    CNAME loop1
      self     CNAME self
      into     CNAME host.sub
      *.turn   CNAME x.turn
      grow     DNAME x.grow
      a.b.ent  TXT   "below an empty name"
      *.wild   TXT   "wild"
      *.alias2 CNAME www
      srv      SRV   1 2 443 ns1
      bind     HTTPS 1 . alpn=h2
      bind     A     192.0.2.44
      bound    HTTPS 1 bind alpn=h2
      renamed  HTTPS 0 bind
      child    NS    ns.child
      child    NS    ns1.example.
      child    DS    1 13 2 0000000000000000000000000000000000000000000000000000000000000000
      ns.child A     192.0.2.99
      old      DNAME new
      x.new    A     192.0.2.77
      big      TXT   BIG
      www      TXT   "beside the service"
    services: {www: web, "@": web, four: four, cdn: cdn, many: many, dead: dead, led: away, "*.led": away, inner: inner, _sip._udp: sip, "*.vid": cdn}
  sub.ok.test:
    ns: [ns.example.]
    records: "host A 192.0.2.88"
`

func snapshot(t testing.TB) *steer.Snapshot {
	t.Helper()
	return snapshotOf(t, text)
}

func snapshotOf(t testing.TB, text string) *steer.Snapshot {
	t.Helper()
	return snapshotWith(t, text, func(*steer.Inputs) {})
}

// snapshotWith makes a snapshot of a configuration, of inputs that are changed first.
func snapshotWith(t testing.TB, text string, change func(*steer.Inputs)) *steer.Snapshot {
	t.Helper()
	var many, big []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("198.18.0.%d, \"2001:db8::%x\"", i, 256+i))
	}
	for range 9 {
		big = append(big, `"`+strings.Repeat("x", 250)+`"`)
	}
	full := strings.NewReplacer("MANY", strings.Join(many, ", "), "BIG", strings.Join(big, " ")).Replace(text)
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(full)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	nowhere := geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {})
	in := steer.Inputs{
		Policy: policy, Config: 1, Health: health.NewBoard().Latest(), Routes: bgp.NewTable(1, policy.Routes()), Geo: nowhere, Now: noon,
	}
	change(&in)
	return steer.Build(in, nil)
}

// fataler is a test, of whatever kind.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// question makes a query of words: a name, a type, and what else it has: a class, "+edns=SIZE", "+do", "+co", "+nsid",
// "+ecs=PREFIX", "+cookie=HEX", "+keepalive", "+expire", "+unknown", "+tcp", "+rd", "+cd", "+ad".
func question(t fataler, words string) (packet []byte, stream bool) {
	t.Helper()
	fields := strings.Fields(words)
	m := new(mdns.Msg)
	m.SetQuestion(fields[0], typeOf(fields[1]))
	m.Id, m.RecursionDesired = 4711, false
	o := &mdns.OPT{Hdr: mdns.RR_Header{Name: ".", Rrtype: mdns.TypeOPT}}
	o.SetUDPSize(1232)
	for _, word := range fields[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "CH":
			m.Question[0].Qclass = mdns.ClassCHAOS
			continue
		case "HS":
			m.Question[0].Qclass = mdns.ClassHESIOD
			continue
		case "+tcp":
			stream = true
			continue
		case "+rd":
			m.RecursionDesired = true
			continue
		case "+cd":
			m.CheckingDisabled = true
			continue
		case "+edns":
			var size uint16
			if _, err := fmt.Sscan(value, &size); err != nil {
				t.Fatal(err)
			}
			o.SetUDPSize(size)
		case "+do":
			o.SetDo()
		case "+co":
			o.Hdr.Ttl |= 1 << 14
		case "+nsid":
			o.Option = append(o.Option, &mdns.EDNS0_NSID{Code: mdns.EDNS0NSID})
		case "+ad":
			m.AuthenticatedData = true
			continue
		case "+expire":
			o.Option = append(o.Option, &mdns.EDNS0_EXPIRE{Code: mdns.EDNS0EXPIRE, Empty: true})
		case "+unknown":
			o.Option = append(o.Option, &mdns.EDNS0_LOCAL{Code: 65001, Data: []byte("anything")})
		case "+keepalive":
			o.Option = append(o.Option, &mdns.EDNS0_TCP_KEEPALIVE{Code: mdns.EDNS0TCPKEEPALIVE})
		case "+cookie":
			o.Option = append(o.Option, &mdns.EDNS0_COOKIE{Code: mdns.EDNS0COOKIE, Cookie: value})
		case "+ecs":
			p := netip.MustParsePrefix(value)
			family := uint16(1)
			if p.Addr().Is6() {
				family = 2
			}
			o.Option = append(o.Option, &mdns.EDNS0_SUBNET{Code: mdns.EDNS0SUBNET, Family: family, SourceNetmask: uint8(p.Bits()), Address: p.Addr().AsSlice()})
		default:
			t.Fatalf("what is %q?", word)
		}
		if m.IsEdns0() == nil {
			m.Extra = append(m.Extra, o)
		}
	}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet, stream
}

// over is the transport of a question: TCP, or UDP.
func over(stream bool) dns.Transport {
	if stream {
		return dns.TCP
	}
	return dns.UDP
}

// ask gives the reply in a few lines: the header, then each record without what is the same in all.
func ask(t testing.TB, s *steer.Snapshot, source string, packet []byte, stream bool) string {
	t.Helper()
	reply := dns.NewResponder("ns1", "test").Respond(s, dns.Request{
		Packet: packet, Source: netip.MustParseAddr(source), Over: over(stream), Now: noon, Seed: 0,
	}, nil)
	if reply == nil {
		return "silence\n"
	}
	m := new(mdns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("reply does not unpack: %v", err)
	}
	return show(m)
}

func show(m *mdns.Msg) string {
	var b strings.Builder
	rcode := mdns.RcodeToString[m.Rcode]
	if m.Rcode == mdns.RcodeBadVers {
		rcode = "BADVERS" // the library knows it by the name that TSIG gives to the same number
	}
	b.WriteString(rcode)
	for _, f := range []struct {
		set  bool
		word string
	}{{m.Authoritative, "aa"}, {m.Truncated, "tc"}, {m.RecursionDesired, "rd"}, {m.RecursionAvailable, "ra"}, {m.AuthenticatedData, "ad"}, {m.CheckingDisabled, "cd"}} {
		if f.set {
			b.WriteString(" " + f.word)
		}
	}
	b.WriteByte('\n')
	for _, section := range []struct {
		name    string
		records []mdns.RR
	}{{"answer", m.Answer}, {"authority", m.Ns}, {"additional", m.Extra}} {
		for _, rr := range section.records {
			fmt.Fprintf(&b, "%s: %s\n", section.name, showRecord(rr))
		}
	}
	return b.String()
}

func showRecord(rr mdns.RR) string {
	o, ok := rr.(*mdns.OPT)
	if !ok {
		return strings.Join(strings.Fields(rr.String()), " ")
	}
	words := []string{fmt.Sprintf("OPT size=%d version=%d", o.UDPSize(), o.Version())}
	if o.Do() {
		words = append(words, "do")
	}
	if o.Hdr.Ttl&(1<<14) != 0 {
		words = append(words, "co")
	}
	for _, option := range o.Option {
		switch option := option.(type) {
		case *mdns.EDNS0_SUBNET:
			words = append(words, fmt.Sprintf("ecs=%s/%d/%d", option.Address, option.SourceNetmask, option.SourceScope))
		case *mdns.EDNS0_NSID:
			words = append(words, "nsid="+option.Nsid)
		case *mdns.EDNS0_EDE:
			words = append(words, strings.TrimRight(fmt.Sprintf("ede=%d %s", option.InfoCode, option.ExtraText), " "))
		case *mdns.EDNS0_TCP_KEEPALIVE:
			words = append(words, fmt.Sprintf("keepalive=%d", option.Timeout))
		case *mdns.EDNS0_EXPIRE:
			words = append(words, fmt.Sprintf("expire=%d", option.Expire))
		case *mdns.EDNS0_COOKIE:
			words = append(words, "cookie="+option.Cookie)
		default:
			words = append(words, fmt.Sprintf("option=%d", option.Option()))
		}
	}
	return strings.Join(words, " ")
}

// typeOf is a type of records by its name, or by its number after TYPE.
func typeOf(word string) uint16 {
	if number, ok := strings.CutPrefix(word, "TYPE"); ok {
		if n, err := strconv.ParseUint(number, 10, 16); err == nil {
			return uint16(n)
		}
	}
	return mdns.StringToType[word]
}
