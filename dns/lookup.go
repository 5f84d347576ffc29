package dns

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/miekg/dns"

	"gslb/config"
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
		l.expanded(name)
	}
}

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
