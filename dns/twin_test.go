package dns_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	mdns "github.com/miekg/dns"
	"pgregory.net/rapid"

	"gslb/dns"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// twin answers as the server does, slowly: with the records and the packer of the DNS library.
type twin struct {
	s      *steer.Snapshot
	z      *zone.Zone
	client steer.Client
	seed   uint64
	stream bool
	q      mdns.Question
	m      mdns.Msg
	span   int
	hosts  []mdns.RR // addresses of hosts that the answer points to
	must   bool      // a referral, which is no use without them
	ede    *mdns.EDNS0_EDE
}

// reply gives the twin's reply, which has at most limit octets.
func (w *twin) reply(asked *mdns.Msg, limit int) *mdns.Msg {
	w.q = asked.Question[0]
	w.m.SetReply(asked)
	w.m.RecursionDesired, w.m.CheckingDisabled = asked.RecursionDesired, false
	name, err := zone.ParseName(w.q.Name)
	if err != nil {
		panic(err)
	}
	z, ours := w.s.Zone(name)
	if ours && w.q.Qtype == mdns.TypeDS && name == z.Origin() {
		if parent, ok := w.s.Zone(name.Parent()); ok {
			z = parent
		}
	}
	switch {
	case w.q.Qtype == 128:
		w.m.Rcode, w.ede = mdns.RcodeFormatError, &mdns.EDNS0_EDE{InfoCode: 30}
	case !ours:
		w.m.Rcode, w.ede = mdns.RcodeRefused, &mdns.EDNS0_EDE{InfoCode: mdns.ExtendedErrorCodeNotAuthoritative}
	default:
		w.z, w.m.Authoritative = z, true
		w.follow(name)
	}
	w.m.Compress = true
	for _, extra := range [][]mdns.RR{w.hosts, nil} {
		if w.must && len(extra) < len(w.hosts) {
			break
		}
		if w.m.Extra = append(slices.Clone(extra), w.opt(asked)...); w.m.Len() <= limit {
			return &w.m
		}
	}
	w.m.Truncated, w.m.Answer, w.m.Ns, w.m.Extra = true, nil, nil, w.opt(asked)
	return &w.m
}

func (w *twin) opt(asked *mdns.Msg) []mdns.RR {
	o := asked.IsEdns0()
	if o == nil {
		return nil
	}
	reply := &mdns.OPT{Hdr: mdns.RR_Header{Name: ".", Rrtype: mdns.TypeOPT}}
	reply.SetUDPSize(1232)
	reply.SetDo(o.Do())
	for _, option := range o.Option {
		switch option := option.(type) {
		case *mdns.EDNS0_NSID:
			reply.Option = append(reply.Option, &mdns.EDNS0_NSID{Code: mdns.EDNS0NSID, Nsid: "6e7331"})
		case *mdns.EDNS0_TCP_KEEPALIVE:
			if w.stream {
				reply.Option = append(reply.Option, &mdns.EDNS0_TCP_KEEPALIVE{Code: mdns.EDNS0TCPKEEPALIVE, Timeout: 100})
			}
		case *mdns.EDNS0_EXPIRE:
			if w.q.Qtype == mdns.TypeSOA && w.z != nil && strings.EqualFold(w.q.Name, w.z.Origin().String()) {
				soa := w.records(w.z.Find(w.z.Origin()).Node, mdns.TypeSOA, w.z.Origin())[0].(*mdns.SOA)
				reply.Option = append(reply.Option, &mdns.EDNS0_EXPIRE{Code: mdns.EDNS0EXPIRE, Expire: soa.Expire})
			}
		case *mdns.EDNS0_SUBNET:
			if w.m.Rcode == mdns.RcodeFormatError {
				continue
			}
			echo := *option
			echo.SourceScope = uint8(w.client.Scope(w.span))
			reply.Option = append(reply.Option, &echo)
		}
	}
	if w.ede != nil {
		reply.Option = append(reply.Option, w.ede)
	}
	return []mdns.RR{reply}
}

func (w *twin) follow(name zone.Name) {
	passed := map[zone.Name]bool{}
	for range steer.MaxChain {
		passed[name] = true
		next, more := w.step(name)
		if !more || passed[next] || !w.s.Follows(w.z, next) {
			return
		}
		name = next
	}
}

func (w *twin) step(name zone.Name) (zone.Name, bool) {
	match := w.z.Find(name)
	switch match.Kind {
	case zone.Missing:
		child, _ := w.s.Zone(name)
		if w.q.Qtype == mdns.TypeDS && child != w.z { // it is there, and the parent says nothing of it
			w.deny(^uint32(0))
			return "", false
		}
		w.m.Rcode = mdns.RcodeNameError
		w.deny(^uint32(0))
		return "", false
	case zone.Delegation:
		if w.q.Qtype == mdns.TypeDS && name == match.Owner {
			break
		}
		w.m.Authoritative, w.must = len(w.m.Answer) > 0, true
		w.m.Ns = w.records(match.Node, mdns.TypeNS, match.Owner)
		w.point(w.m.Ns)
		return "", false
	case zone.DNAME:
		return w.redirect(name, match)
	}
	node := match.Node
	gives := uint16(0)
	if node.Service >= 0 {
		gives = w.s.Policy().Service(node.Service).Gives()
	}
	if w.q.Qtype == mdns.TypeANY {
		w.any(name, node, gives)
		return "", false
	}
	switch own := w.records(node, w.q.Qtype, name); {
	case gives == mdns.TypeCNAME, gives == mdns.TypeSRV && w.q.Qtype == mdns.TypeSRV:
		return w.hosted(name, node.Service)
	case gives == mdns.TypeA && (w.q.Qtype == mdns.TypeA || w.q.Qtype == mdns.TypeAAAA):
		w.decide(name, node.Service)
	case node.Service >= 0 && w.q.Qtype == mdns.TypeHTTPS && w.s.Policy().Service(node.Service).HTTPS() != nil:
		w.bind(name, node.Service)
	case own != nil:
		w.m.Answer = append(w.m.Answer, own...)
		w.point(own)
	case w.records(node, mdns.TypeCNAME, name) != nil:
		w.m.Answer = append(w.m.Answer, w.records(node, mdns.TypeCNAME, name)...)
		target, err := zone.ParseName(w.m.Answer[len(w.m.Answer)-1].(*mdns.CNAME).Target)
		return target, err == nil
	case node.Service >= 0:
		w.deny(w.s.Policy().Service(node.Service).TTL())
	default:
		w.deny(^uint32(0))
	}
	return "", false
}

// any gives the first RRset there is, or what says nothing (RFC 8482).
func (w *twin) any(name zone.Name, node *zone.Node, gives uint16) {
	switch types := node.Types(); {
	case len(types) > 0:
		w.m.Answer = append(w.m.Answer, w.records(node, types[0], name)...)
	case node.Service < 0:
		w.deny(^uint32(0))
	case gives == mdns.TypeCNAME:
		w.hosted(name, node.Service)
	default:
		hdr := mdns.RR_Header{Name: name.String(), Rrtype: mdns.TypeHINFO, Class: mdns.ClassINET, Ttl: w.s.Policy().Service(node.Service).TTL()}
		w.m.Answer = append(w.m.Answer, &mdns.HINFO{Hdr: hdr, Cpu: "RFC8482"})
	}
}

func (w *twin) redirect(name zone.Name, match zone.Match) (zone.Name, bool) {
	rr := w.records(match.Node, mdns.TypeDNAME, match.Owner)[0]
	if !slices.ContainsFunc(w.m.Answer, func(given mdns.RR) bool { return given.String() == rr.String() }) {
		w.m.Answer = append(w.m.Answer, rr)
	}
	alias := &mdns.CNAME{
		Hdr:    mdns.RR_Header{Name: name.String(), Rrtype: mdns.TypeCNAME, Class: mdns.ClassINET, Ttl: rr.Header().Ttl},
		Target: strings.TrimSuffix(name.String(), match.Owner.String()) + rr.(*mdns.DNAME).Target,
	}
	w.m.Answer = append(w.m.Answer, alias)
	next, err := zone.ParseName(alias.Target)
	return next, err == nil && w.q.Qtype != mdns.TypeCNAME
}

func (w *twin) decide(name zone.Name, service int) {
	family, rrtype := steer.IPv4, "A"
	if w.q.Qtype == mdns.TypeAAAA {
		family, rrtype = steer.IPv6, "AAAA"
	}
	d := steer.Decide(w.s, steer.Query{Service: service, Client: w.client, Family: family, Seed: w.seed})
	w.span = max(w.span, d.Span)
	if d.Placed == steer.PlacedAllDown {
		w.ede = &mdns.EDNS0_EDE{ExtraText: "no place of this service is healthy"}
	}
	addresses := d.Addresses(w.s, service, nil)
	if len(addresses) == 0 {
		w.deny(d.TTL)
	}
	for _, a := range addresses {
		rr, err := mdns.NewRR(fmt.Sprintf("%s %d IN %s %s", name, d.TTL, rrtype, a))
		if err != nil {
			panic(err)
		}
		w.m.Answer = append(w.m.Answer, rr)
	}
}

// hosted answers from a service whose places are known by name.
func (w *twin) hosted(name zone.Name, service int) (zone.Name, bool) {
	d := steer.Decide(w.s, steer.Query{Service: service, Client: w.client, Seed: w.seed})
	w.span = max(w.span, d.Span)
	var pointing []mdns.RR
	for _, h := range d.Hosts(w.s, service, nil) {
		hdr := mdns.RR_Header{Name: name.String(), Class: mdns.ClassINET, Ttl: d.TTL}
		if h.Port == 0 {
			hdr.Rrtype = mdns.TypeCNAME
			w.m.Answer = append(w.m.Answer, &mdns.CNAME{Hdr: hdr, Target: h.Name.String()})
			return h.Name, w.q.Qtype != mdns.TypeCNAME
		}
		hdr.Rrtype = mdns.TypeSRV
		pointing = append(pointing, &mdns.SRV{Hdr: hdr, Weight: h.Weight, Port: h.Port, Target: h.Name.String()})
	}
	w.m.Answer = append(w.m.Answer, pointing...)
	w.point(pointing)
	return "", false
}

// bind makes the HTTPS record out of the answers to the questions for addresses.
func (w *twin) bind(name zone.Name, service int) {
	records := map[uint16][]mdns.RR{}
	for _, w.q.Qtype = range []uint16{mdns.TypeA, mdns.TypeAAAA} {
		before, denied := len(w.m.Answer), w.m.Ns
		w.decide(name, service)
		records[w.q.Qtype] = slices.Clone(w.m.Answer[before:])
		w.m.Answer, w.m.Ns = w.m.Answer[:before], denied
	}
	binding := w.s.Policy().Service(service).HTTPS()
	rr := &mdns.HTTPS{SVCB: mdns.SVCB{Hdr: mdns.RR_Header{Name: name.String(), Rrtype: mdns.TypeHTTPS, Class: mdns.ClassINET}, Priority: 1, Target: "."}}
	alpn := new(mdns.SVCBAlpn)
	for wire := binding.ALPN; len(wire) > 0; wire = wire[1+wire[0]:] {
		alpn.Alpn = append(alpn.Alpn, string(wire[1:1+wire[0]]))
	}
	rr.Value = append(rr.Value, alpn)
	if binding.Port > 0 {
		rr.Value = append(rr.Value, &mdns.SVCBPort{Port: binding.Port})
	}
	ipv4, ipv6 := new(mdns.SVCBIPv4Hint), new(mdns.SVCBIPv6Hint)
	for _, a := range records[mdns.TypeA] {
		ipv4.Hint = append(ipv4.Hint, a.(*mdns.A).A)
		rr.Hdr.Ttl = a.Header().Ttl
	}
	for _, a := range records[mdns.TypeAAAA] {
		ipv6.Hint = append(ipv6.Hint, a.(*mdns.AAAA).AAAA)
		rr.Hdr.Ttl = a.Header().Ttl
	}
	if len(ipv4.Hint) > 0 {
		rr.Value = append(rr.Value, ipv4)
	}
	if len(ipv6.Hint) > 0 {
		rr.Value = append(rr.Value, ipv6)
	}
	w.m.Answer = append(w.m.Answer, rr)
}

func (w *twin) deny(ttl uint32) {
	apex := w.z.Find(w.z.Origin()).Node
	soa := w.records(apex, mdns.TypeSOA, w.z.Origin())[0].(*mdns.SOA)
	soa.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl, ttl)
	w.m.Ns = append(w.m.Ns, soa)
}

// point adds the addresses of the hosts that records point to.
func (w *twin) point(records []mdns.RR) {
	seen := map[string]bool{}
	for _, rr := range records {
		host := ""
		switch rr := rr.(type) {
		case *mdns.NS:
			host = rr.Ns
		case *mdns.MX:
			host = rr.Mx
		case *mdns.SRV:
			host = rr.Target
		case *mdns.HTTPS:
			if host = rr.Target; host == "." && rr.Priority > 0 {
				host = rr.Hdr.Name
			}
		}
		name, err := zone.ParseName(host)
		if err != nil || seen[strings.ToLower(host)] {
			continue
		}
		seen[strings.ToLower(host)] = true
		for n, node := range w.z.All() {
			if n == name {
				w.hosts = append(append(w.hosts, w.records(node, mdns.TypeA, n)...), w.records(node, mdns.TypeAAAA, n)...)
				if h, ok := rr.(*mdns.HTTPS); ok && h.Priority == 0 {
					w.hosts = append(w.hosts, w.records(node, mdns.TypeHTTPS, n)...)
				}
			}
		}
	}
}

func (w *twin) records(node *zone.Node, rrtype uint16, owner zone.Name) []mdns.RR {
	set, _ := node.Set(rrtype)
	records := w.z.Records(node, set)
	for _, rr := range records {
		rr.Header().Name = owner.String()
	}
	return records
}

// drawn is a question for one of the names and types, with some of the options, each in one of four questions, and no
// two of one kind. The words say what it is, but for the type.
func drawn(t *rapid.T, names []string, types []uint16, options ...string) (words string, asked *mdns.Msg, stream bool) {
	words = rapid.SampledFrom(names).Draw(t, "name") + " A"
	for _, option := range options {
		kind, _, _ := strings.Cut(option, "=")
		if !strings.Contains(words, " "+kind) && rapid.IntRange(0, 3).Draw(t, option) == 0 {
			words += " " + option
		}
	}
	packet, stream := question(t, words)
	asked = new(mdns.Msg)
	if err := asked.Unpack(packet); err != nil {
		t.Fatal(err)
	}
	asked.Question[0].Qtype = rapid.SampledFrom(types).Draw(t, "type")
	asked.Question[0].Name = otherCase(asked.Question[0].Name, rapid.Uint64().Draw(t, "case"))
	return words, asked, stream
}

// otherCase writes letters of a name in the other case, as the bits of a number say.
func otherCase(name string, bits uint64) string {
	b := []byte(name)
	for i, c := range b {
		if letter := c | 0x20; 'a' <= letter && letter <= 'z' && bits>>(i%64)&1 == 1 {
			b[i] ^= 0x20
		}
	}
	return string(b)
}

// TestRepliesEqualTheTwins asks for every name and many beside it, and compares what comes back with what the
// library makes of the same decision.
func TestRepliesEqualTheTwins(t *testing.T) { rapid.Check(t, equalsTwin(t)) }

// FuzzRepliesEqualTheTwins does the same, led by what was not reached before.
func FuzzRepliesEqualTheTwins(f *testing.F) { f.Fuzz(rapid.MakeFuzz(equalsTwin(f))) }

func equalsTwin(t testing.TB) func(*rapid.T) {
	t.Helper()
	s := snapshot(t)
	names := []string{"example.", "sub.ok.test.", "host.sub.ok.test.", "x.host.sub.ok.test.", "a.b.vid.ok.test.", "y.old.ok.test.", "a.grow.ok.test."}
	origin, _ := zone.ParseName("ok.test.")
	z, _ := s.Zone(origin)
	for n := range z.All() {
		names = append(names, n.String(), "x."+n.String())
	}
	types := []uint16{
		mdns.TypeA, mdns.TypeAAAA, mdns.TypeNS, mdns.TypeSOA, mdns.TypeMX, mdns.TypeTXT, mdns.TypeCNAME, mdns.TypeDNAME, mdns.TypeSRV, mdns.TypeHTTPS, mdns.TypeDS, mdns.TypeANY,
		mdns.TypeOPT, mdns.TypeTSIG, mdns.TypeTKEY, mdns.TypeMAILA, mdns.TypeRRSIG, mdns.TypeDNSKEY, 128, 0, 65280, 65535,
	}
	responder := dns.NewResponder("ns1", "test")
	return func(t *rapid.T) {
		words, asked, stream := drawn(t, names, types,
			"+rd", "+cd", "+ad", "+do", "+co", "+nsid", "+ecs=203.0.113.0/24", "+ecs=198.18.0.0/15", "+ecs=2001:db8::/32", "+keepalive", "+expire", "+unknown", "+tcp", "+edns=512", "+edns=700")
		switch rapid.IntRange(0, 7).Draw(t, "soa") { // with which alone some options mean anything
		case 0:
			asked.Question[0].Name, asked.Question[0].Qtype = origin.String(), mdns.TypeSOA
		case 1:
			asked.Question[0].Qtype = mdns.TypeSOA
		}
		asked.Zero, asked.Truncated, asked.Authoritative = rapid.Bool().Draw(t, "z"), rapid.Bool().Draw(t, "tc"), rapid.Bool().Draw(t, "aa")
		packet, err := asked.Pack()
		if err != nil {
			t.Fatal(err)
		}
		source, limit := netip.MustParseAddr("192.88.99.1"), 512
		w := twin{s: s, stream: stream, seed: rapid.Uint64().Draw(t, "seed")}
		w.client = s.Client(source, steer.Subnet{})
		if o := asked.IsEdns0(); o != nil {
			limit = int(min(o.UDPSize(), 1232))
			for _, option := range o.Option {
				if e, ok := option.(*mdns.EDNS0_SUBNET); ok {
					a, _ := netip.AddrFromSlice(e.Address)
					w.client = s.Client(source, steer.Subnet{Prefix: netip.PrefixFrom(a.Unmap(), int(e.SourceNetmask))})
				}
			}
		}
		if stream {
			limit = 65535
		}
		want := w.reply(asked, limit)
		got := new(mdns.Msg)
		reply := responder.Respond(s, dns.Request{Packet: packet, Source: source, Over: over(stream), Now: noon, Seed: w.seed}, nil)
		if err := got.Unpack(reply); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		if got.Question[0] != asked.Question[0] {
			t.Fatalf("%s: question %v", words, got.Question[0])
		}
		if g, w := strings.ToLower(show(got)), strings.ToLower(show(want)); g != w {
			t.Fatalf("%s %s\ngot:\n%swant:\n%s", words, mdns.Type(asked.Question[0].Qtype), g, w)
		}
	}
}
