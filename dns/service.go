package dns

import (
	"net/netip"
	"slices"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

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
