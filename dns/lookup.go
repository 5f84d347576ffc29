package dns

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// lookup finds the answer to one question in one zone, and writes it on the way: the algorithm of RFC
// 1034 section 4.3.2, in which a name can also lead to a service.
type lookup struct {
	asking
	answer
	proving
	w writer

	dnames [steer.MaxChain]*zone.Node // that are in the answer
	places [8]*zone.Node              // the nodes of hosts that a service's SRV records point to

	sought    steer.Query // of the last decision
	decision  steer.Decision
	addresses [config.MaxAddresses]netip.Addr // room
	records   [signedSize]byte                // room
}

// asking is what a lookup looks for.
type asking struct {
	responder *Responder
	s         *steer.Snapshot
	z         *zone.Zone
	q         *query
	req       Request
	signature *signature // that was believed; nil: there is none
	options   options
	limit     int // octets that the reply may have
}

// answer is what is to be known of a reply beside its records.
type answer struct {
	rcode         int
	authoritative bool
	span          int // see steer.Decision; where it is not 0 the answer depends on the client that was sought for
	placed        steer.Placed
	zone          int // its index in the policy; -1: the answer is from none
	service       int // that the last decision was for; -1: there was none
	extended      extended
	found         zone.Name // where the zone has what the question's name gets; "": nowhere

	given    int        // DNAMEs
	pointer  *zone.Node // the node whose set points to hosts,
	pointing zone.RRset // that set,
	referral bool       // and whether the reply is no use without them
	named    int        // places
}

// reset makes the lookup that of the next request. An idle one must not keep a snapshot alive, so what it has of one is
// forgotten, and what the next would not set itself. All else is left alone: to clear it takes as long as an answer
// from a zone.
func (l *lookup) reset() {
	clear(l.dnames[:l.given])
	clear(l.places[:l.named])
	if l.service >= 0 {
		l.decision = steer.Decision{}
	}
	if l.signed != nil {
		l.proving = proving{}
	}
	l.s, l.z, l.signature, l.options = nil, nil, nil, options{}
	l.answer = answer{}
	l.w.b = nil
}

// forever is the TTL that bounds nothing.
const forever = ^uint32(0)

// run follows the name, and the aliases it meets as long as they stay in the zone and lead to
// another name each time. The last name's fate is the answer's (RFC 6604).
func (l *lookup) run() {
	l.authoritative = true
	l.w.at = answers
	if next, more := l.step(l.q.name); more {
		l.follow(next)
	}
	if l.proves() {
		l.prove()
	}
}

// follow goes on from the first alias.
func (l *lookup) follow(name zone.Name) {
	passed := [steer.MaxChain]zone.Name{l.q.name}
	for i := 1; i < len(passed); i++ {
		if !l.s.Follows(l.z, name) || slices.Contains(passed[:i], name) {
			return
		}
		passed[i] = name
		next, more := l.step(name)
		if !more {
			return
		}
		name = next
	}
}

// step answers for one name, or tells where it is an alias to.
func (l *lookup) step(name zone.Name) (next zone.Name, more bool) {
	match := l.z.Find(name)
	if l.signed != nil {
		l.match = match
	}
	l.found = cmp.Or(l.found, match.Owner)
	if l.undelegated(name, match.Kind) {
		l.deny(forever)
		l.missing(name)
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
		if l.link() {
			l.missing(name)
			l.tell()
			return "", false
		}
		l.rcode = dns.RcodeNameError
		l.deny(forever)
		l.missing(name)
	default:
		l.rcode = dns.RcodeServerFailure
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
	if node.Service >= 0 {
		if next, more, given := l.serve(name, node, l.q.rrtype); given {
			return next, more
		}
	}
	if l.own(name, node) {
		return "", false
	}
	if set, ok := node.Set(l.q.rrtype); ok {
		l.set(name, node, set)
		if zone.Points(set.Type) {
			l.pointer, l.pointing = node, set
		}
		return "", false
	}
	if set, ok := node.Set(dns.TypeCNAME); ok {
		l.set(name, node, set)
		return l.z.Alias(node)
	}
	ttl := forever
	if node.Service >= 0 {
		ttl = l.s.Policy().Service(node.Service).TTL()
	}
	l.deny(ttl)
	l.nodata(name, node, 0)
	return "", false
}

// set answers with an RRset of a node, which may stand in for the name as a wildcard.
func (l *lookup) set(name zone.Name, node *zone.Node, set zone.RRset) {
	l.w.set(l.z, name, set, set.TTL)
	if l.proves() { // most clients want no proof, and are not to wait for it
		l.sign(name, node, set)
		l.expanded(name, node)
	}
}

// serve answers from a service, if that gives records of the type that is asked for.
func (l *lookup) serve(name zone.Name, node *zone.Node, rrtype uint16) (next zone.Name, more, given bool) {
	svc := l.s.Policy().Service(node.Service)
	switch svc.Gives() {
	case dns.TypeCNAME:
		next, more = l.alias(name, node)
		return next, more && rrtype != dns.TypeCNAME, true
	case dns.TypeSRV:
		if rrtype != dns.TypeSRV {
			return "", false, false
		}
		l.locate(name, node)
	default:
		switch {
		case rrtype == dns.TypeA:
			l.steer(name, node, steer.IPv4)
		case rrtype == dns.TypeAAAA:
			l.steer(name, node, steer.IPv6)
		case rrtype == dns.TypeHTTPS && svc.HTTPS() != nil:
			l.bind(name, node, svc.HTTPS())
		default:
			return "", false, false
		}
	}
	return "", false, true
}

// hostsOf gives the hosts that this client gets from a service whose places are known by name, and their TTL.
func (l *lookup) hostsOf(name zone.Name, node *zone.Node, room []steer.Host) ([]steer.Host, uint32) {
	d, ok := l.decide(node.Service, steer.IPv4) // by which such a service is judged
	if !ok {
		return nil, 0
	}
	hosts := d.Hosts(l.s, node.Service, room)
	if len(hosts) == 0 {
		l.deny(d.TTL)
		l.nodata(name, node, sign.LacksIPv4)
	}
	return hosts, d.TTL
}

// alias answers from a service that makes the name an alias of the place that this client gets.
func (l *lookup) alias(name zone.Name, node *zone.Node) (next zone.Name, more bool) {
	var room [1]steer.Host
	hosts, ttl := l.hostsOf(name, node, room[:0])
	if len(hosts) == 0 {
		return "", false
	}
	l.w.alias(name, hosts[0].Name, ttl)
	if l.proves() {
		l.steered(name, node, dns.TypeCNAME, ttl, appendData(l.records[:0], hosts[0].Name))
	}
	return hosts[0].Name, true
}

// locate answers from a service with SRV records, and adds the addresses of their hosts as far as the zone has them.
func (l *lookup) locate(name zone.Name, node *zone.Node) {
	var room [config.MaxAddresses]steer.Host
	hosts, ttl := l.hostsOf(name, node, room[:0])
	start := len(l.w.b)
	for _, h := range hosts {
		l.w.location(name, ttl, h)
		m := l.z.Find(h.Name)
		if m.Kind == zone.Exact && l.named < len(l.places) && !slices.Contains(l.places[:l.named], m.Node) {
			l.places[l.named] = m.Node
			l.named++
		}
	}
	if len(hosts) > 0 && l.proves() && !l.w.over {
		l.steered(name, node, dns.TypeSRV, ttl, l.w.appendData(l.records[:0], start, len(hosts)))
	}
}

// decide asks for the places of this client, in one family. It gives false when the service wants to fail.
func (l *lookup) decide(service int, family steer.Family) (d *steer.Decision, ok bool) {
	d, q := &l.decision, &l.sought
	if l.service >= 0 {
		*d = steer.Decision{}
	}
	q.Client = l.s.Client(l.req.Source, l.q.subnet)
	q.Service, q.Family, q.Seed, q.Now = service, family, l.req.Seed, l.req.Now
	d.Make(l.s, q)
	l.service, l.placed, l.span = service, d.Placed, max(l.span, d.Span)
	if d.Placed == steer.PlacedAllDown {
		l.extended = edeAllDown
	}
	if d.Servfail {
		l.rcode = dns.RcodeServerFailure
		l.authoritative = false
	}
	return d, !d.Servfail
}

// bind answers from a service with an HTTPS record, whose hints are the addresses that this client gets. Where the
// record is signed they are in order: in any other they would be another record.
func (l *lookup) bind(name zone.Name, node *zone.Node, binding *steer.Binding) {
	var hints [2][]netip.Addr
	var rooms [2][config.MaxAddresses]netip.Addr
	ttl := forever
	main := l.s.Policy().Service(node.Service).Main() // by which the answer counts: the last decision
	for _, family := range [...]steer.Family{steer.IPv4 + steer.IPv6 - main, main} {
		d, ok := l.decide(node.Service, family)
		if !ok {
			return
		}
		hints[family] = d.Addresses(l.s, node.Service, rooms[family][:0])
		ttl = min(ttl, d.TTL)
		if l.proves() {
			hints[family] = ordered(hints[family])
		}
	}
	if len(hints[steer.IPv4])+len(hints[steer.IPv6]) == 0 {
		l.deny(ttl)
		l.nodata(name, node, sign.LacksIPv4|sign.LacksIPv6)
		return
	}
	start := len(l.w.b)
	l.w.binding(name, ttl, binding, hints[steer.IPv4], hints[steer.IPv6])
	if l.proves() && !l.w.over {
		l.steered(name, node, dns.TypeHTTPS, ttl, l.w.appendData(l.records[:0], start, 1))
	}
}

// steer answers from a service: the addresses that this client gets.
func (l *lookup) steer(name zone.Name, node *zone.Node, family steer.Family) {
	d, ok := l.decide(node.Service, family)
	if !ok {
		return
	}
	addresses, ttl := d.Addresses(l.s, node.Service, l.addresses[:0]), d.TTL
	if len(addresses) == 0 {
		l.deny(ttl)
		l.lacking(name, node, family)
		return
	}
	if l.proves() {
		addresses = distinct(addresses)
	}
	for _, a := range addresses {
		l.w.address(name, a, ttl)
	}
	if l.proves() {
		l.steered(name, node, addressTypes[family], ttl, appendAddresses(l.records[:0], addresses))
	}
}

// addressTypes are the types of record that give addresses.
var addressTypes = [...]uint16{steer.IPv4: dns.TypeA, steer.IPv6: dns.TypeAAAA}

// any answers a question for all types with one RRset, or, for a service, with a record that says
// nothing (RFC 8482 sections 4.1 and 4.2). That cannot be signed, so a signed zone gives the service's own; and where
// there is an alias it is given, beside which nothing may stand.
func (l *lookup) any(name zone.Name, node *zone.Node) {
	for set := range node.Sets() {
		l.set(name, node, set)
		return
	}
	switch {
	case node.Service < 0:
		l.deny(forever)
		l.nodata(name, node, 0)
	case l.proves():
		l.serve(name, node, l.signed.Steered(node).First())
	case l.s.Policy().Service(node.Service).Gives() == dns.TypeCNAME:
		l.serve(name, node, dns.TypeCNAME)
	default:
		l.w.strings(name, dns.TypeHINFO, dns.ClassINET, l.s.Policy().Service(node.Service).TTL(), "RFC8482", "")
	}
}

// redirect answers below a DNAME: with it, and with the CNAME that it means for this name (RFC 6672
// section 3.1).
func (l *lookup) redirect(name zone.Name, match zone.Match) (next zone.Name, more bool) {
	set, _ := match.Node.Set(dns.TypeDNAME)
	if !slices.Contains(l.dnames[:l.given], match.Node) { // aliases can come by it again
		l.w.set(l.z, match.Owner, set, set.TTL)
		l.sign(match.Owner, match.Node, set)
		l.dnames[l.given] = match.Node
		l.given++
	}
	target, ok := l.z.Redirection(match.Node)
	if !ok {
		l.rcode = dns.RcodeServerFailure
		return "", false
	}
	next, ok = zone.Redirected(name, match.Owner, target)
	if !ok {
		l.rcode = dns.RcodeYXDomain
		return "", false
	}
	l.w.alias(name, next, set.TTL)
	if l.q.rrtype == dns.TypeCNAME {
		return "", false
	}
	return next, true
}

// refer sends the client on to the servers of a child zone.
func (l *lookup) refer(cut *zone.Node) {
	set, _ := cut.Set(dns.TypeNS)
	l.authoritative = l.w.counts[answers] > 0 // the aliases that led here are ours
	l.w.at = authority
	l.w.set(l.z, cut.Name(), set, set.TTL)
	l.secure(cut)
	l.pointer, l.pointing, l.referral = cut, set, true
}

// deny says that there is no such name, or no such data, with the SOA that bounds how long this
// may be believed (RFC 2308 section 3), at most the given seconds.
func (l *lookup) deny(ttl uint32) {
	l.w.at = authority
	ttl = min(l.z.DenialTTL(), ttl)
	l.w.set(l.z, l.z.Origin(), l.z.SOA(), ttl)
	l.signDenial(ttl)
}
