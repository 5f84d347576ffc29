package dns

import (
	"net/netip"
	"slices"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// lookup finds the answer to one question in one zone: the algorithm of RFC 1034 section 4.3.2, in
// which a name can also lead to a service.
type lookup struct {
	s      *steer.Snapshot
	z      *zone.Zone
	q      *query
	req    Request
	client steer.Client
	answer answer
}

// run follows the name, and the aliases it meets as long as they stay in the zone and lead to
// another name each time. The last name's fate is the answer's (RFC 6604).
func (l *lookup) run() {
	l.answer = answer{authoritative: true, client: l.client}
	var passed [steer.MaxChain]zone.Name
	name := l.q.name
	for i := range passed {
		passed[i] = name
		next, more := l.step(name)
		if !more || !l.s.Follows(l.z, next) || slices.Contains(passed[:i+1], next) {
			return
		}
		name = next
	}
}

// step answers for one name, or tells where it is an alias to.
func (l *lookup) step(name zone.Name) (next zone.Name, more bool) {
	match := l.z.Find(name)
	if l.undelegated(name, match.Kind) {
		l.deny(^uint32(0))
		return "", false
	}
	switch match.Kind {
	case zone.Exact, zone.Wildcard:
		return l.node(name, match.Node)
	case zone.Delegation:
		if l.q.rrtype == dns.TypeDS && name == match.Owner {
			return l.node(name, match.Node)
		}
		l.refer(match.Node)
	case zone.DNAME:
		return l.redirect(name, match)
	case zone.Missing:
		l.answer.rcode = dns.RcodeNameError
		l.deny(^uint32(0))
	default:
		l.answer.rcode = dns.RcodeServerFailure
	}
	return "", false
}

// undelegated tells whether a DS question is for a zone of ours of which its parent says nothing:
// there is no DS, and yet the name exists.
func (l *lookup) undelegated(name zone.Name, found zone.MatchKind) bool {
	if l.q.rrtype != dns.TypeDS || found == zone.Exact || found == zone.Delegation {
		return false
	}
	child, _ := l.s.Zone(name)
	return child != l.z
}

// node answers from a node that exists, or stands in as a wildcard.
func (l *lookup) node(name zone.Name, node *zone.Node) (next zone.Name, more bool) {
	if l.q.rrtype == dns.TypeANY {
		l.any(name, node)
		return "", false
	}
	if node.Service >= 0 && (l.q.rrtype == dns.TypeA || l.q.rrtype == dns.TypeAAAA) {
		l.steer(name, node.Service)
		return "", false
	}
	if set, ok := node.Set(l.q.rrtype); ok {
		l.add(name, set)
		l.answer.additional = rrs(l.z.Glue(set))
		return "", false
	}
	if set, ok := node.Set(dns.TypeCNAME); ok {
		l.add(name, set)
		return node.Alias()
	}
	ttl := ^uint32(0)
	if node.Service >= 0 {
		ttl = l.s.Policy().Service(node.Service).TTL()
	}
	l.deny(ttl)
	return "", false
}

// steer answers from a service: the addresses that this client gets.
func (l *lookup) steer(name zone.Name, service int) {
	query := steer.Query{Service: service, Client: l.client, Family: steer.IPv4, Seed: l.req.Seed}
	if l.q.rrtype == dns.TypeAAAA {
		query.Family = steer.IPv6
	}
	d := steer.Decide(l.s, query)
	l.answer.decided, l.answer.service = &d, l.s.Policy().Service(service).Name()
	l.answer.span = d.Span
	if d.Servfail {
		l.answer.rcode = dns.RcodeServerFailure
		l.answer.authoritative = false
		return
	}
	var room [config.MaxAddresses]netip.Addr
	addresses := d.Addresses(l.s, service, room[:0])
	if len(addresses) == 0 {
		l.deny(d.TTL)
		return
	}
	owner := name.String()
	for _, a := range addresses {
		l.answer.answers = append(l.answer.answers, addressRecord(owner, a, d.TTL))
	}
}

func addressRecord(owner string, a netip.Addr, ttl uint32) dns.RR {
	hdr := dns.RR_Header{Name: owner, Class: dns.ClassINET, Ttl: ttl}
	if a.Is4() {
		hdr.Rrtype = dns.TypeA
		return &dns.A{Hdr: hdr, A: a.AsSlice()}
	}
	hdr.Rrtype = dns.TypeAAAA
	return &dns.AAAA{Hdr: hdr, AAAA: a.AsSlice()}
}

// any answers a question for all types with one RRset, or, for a service, with a record that says
// nothing (RFC 8482 sections 4.1 and 4.2).
func (l *lookup) any(name zone.Name, node *zone.Node) {
	for set := range node.Sets() {
		l.add(name, set)
		return
	}
	if node.Service < 0 {
		l.deny(^uint32(0))
		return
	}
	l.answer.answers = append(l.answer.answers, &dns.HINFO{
		Hdr: dns.RR_Header{Name: name.String(), Rrtype: dns.TypeHINFO, Class: dns.ClassINET, Ttl: l.s.Policy().Service(node.Service).TTL()},
		Cpu: "RFC8482",
	})
}

// redirect answers below a DNAME: with it, and with the CNAME that it means for this name (RFC 6672
// section 3.1).
func (l *lookup) redirect(name zone.Name, match zone.Match) (next zone.Name, more bool) {
	set, _ := match.Node.Set(dns.TypeDNAME)
	if !slices.Contains(l.answer.answers, set.RRs[0]) { // aliases can come by it again
		l.add(match.Owner, set)
	}
	target, err := zone.ParseName(set.RRs[0].(*dns.DNAME).Target)
	if err != nil {
		l.answer.rcode = dns.RcodeServerFailure
		return "", false
	}
	above := name[:len(name)-len(match.Owner)] // the labels that stand before the DNAME's owner
	next, _, err = zone.NameFromWire([]byte(above + target))
	if err != nil {
		l.answer.rcode = dns.RcodeYXDomain
		return "", false
	}
	l.answer.answers = append(l.answer.answers, &dns.CNAME{
		Hdr:    dns.RR_Header{Name: name.String(), Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: set.TTL},
		Target: next.String(),
	})
	if l.q.rrtype == dns.TypeCNAME {
		return "", false
	}
	return next, true
}

// add puts an RRset into the answer, under the asked name where a wildcard stands in for it.
func (l *lookup) add(name zone.Name, set zone.RRset) {
	owner := name.String()
	for _, rr := range set.RRs {
		if rr.Header().Name != owner {
			rr = dns.Copy(rr)
			rr.Header().Name = owner
		}
		l.answer.answers = append(l.answer.answers, rr)
	}
}

// refer sends the client on to the servers of a child zone.
func (l *lookup) refer(cut *zone.Node) {
	set, _ := cut.Set(dns.TypeNS)
	l.answer.authoritative = len(l.answer.answers) > 0 // the aliases that led here are ours
	l.answer.authority = slices.Clone(set.RRs)
	l.answer.glue = rrs(l.z.Glue(set))
}

// deny says that there is no such name, or no such data, with the SOA that bounds how long this
// may be believed (RFC 2308 section 3), at most the given seconds.
func (l *lookup) deny(ttl uint32) {
	soa := dns.Copy(l.z.SOA().RRs[0]).(*dns.SOA)
	soa.Hdr.Ttl = min(soa.Hdr.Ttl, soa.Minttl, ttl)
	l.answer.authority = append(l.answer.authority, soa)
}

func rrs(sets []zone.RRset) []dns.RR {
	var all []dns.RR
	for _, set := range sets {
		all = append(all, set.RRs...)
	}
	return all
}
