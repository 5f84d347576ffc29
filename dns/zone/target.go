package zone

import (
	"slices"

	"github.com/miekg/dns"
)

// servers checks the hosts that the zone and its delegations are served from, and notes which names
// are glue.
func (v *verifier) servers() {
	if len(v.drafts[v.origin].of(dns.TypeNS)) == 0 && !v.unread {
		v.warnf(inKey("ns"), "zone %s has no name servers: no parent can delegate to it", v.origin)
	}
	for _, n := range v.names {
		if n.name != v.origin && !n.node.cut() {
			continue
		}
		for _, r := range n.of(dns.TypeNS) {
			v.server(n.name, r)
		}
	}
}

// server checks one name server of the zone or of a delegation.
func (v *verifier) server(owner Name, r record) {
	var buf [MaxName]byte
	host, ok := target(r.rrtype, r.rdata, owner, v.origin, &buf)
	if !ok || !host.Below(v.origin) {
		return
	}
	m := v.zone.Find(host)
	if m.Kind == Delegation {
		v.glueFor(owner, host, m.Owner, r)
		return
	}
	switch standing := v.standing(m); standing {
	case "":
	case isAlias:
		v.errorf(r.at, "%s NS: %s %s (RFC 2181 section 10.3)", owner, host, standing)
	default:
		v.errorf(r.at, "%s NS: %s %s%s", owner, host, standing, v.dotHint(host))
	}
}

// glueFor checks a name server below a delegation: one below the delegation that it serves cannot be
// found without addresses here (RFC 9471); one below another can, through that other.
func (v *verifier) glueFor(owner, host, cut Name, r record) {
	if node := v.zone.node(host); node != nil && v.addresses(node) {
		v.glue[node] = true
		return
	}
	switch {
	case v.unread:
	case owner == cut || owner == v.origin:
		v.errorf(r.at, "%s NS: %s needs an A or AAAA record here as glue: it is below the delegation of %s", owner, host, cut)
	default:
		v.warnf(r.at, "%s NS: %s has no glue here, it is found only through the delegation of %s", owner, host, cut)
	}
}

// targets warns of mail exchangers and service hosts in the zone that lead nowhere.
func (v *verifier) targets(p place) {
	if p.node.over != nil {
		return
	}
	for _, r := range p.records {
		if t := r.rrtype; t != dns.TypeMX && t != dns.TypeSRV {
			continue
		}
		var buf [MaxName]byte
		host, ok := target(r.rrtype, r.rdata, p.name(), v.origin, &buf)
		if !ok || host == Root || !host.Below(v.origin) {
			continue
		}
		if standing := v.standing(v.zone.Find(host)); standing != "" {
			v.warnf(r.at, "%s %s: %s %s%s", p.name(), TypeWord(r.rrtype), host, standing, v.dotHint(host))
		}
	}
}

// What can be wrong with a host in the zone.
const (
	isAlias    = "is an alias (CNAME), it must have addresses itself"
	noAddress  = "has no A or AAAA record"
	redirected = "is below a DNAME and has no addresses itself"
)

// dotHint explains a host that was probably meant to stand outside the zone.
func (v *verifier) dotHint(host Name) string {
	if host.Labels() < v.origin.Labels()+2 {
		return ""
	}
	return "; a name without a final dot continues with the zone's"
}

// standing says what is wrong with a host that must have addresses, "" if it has them, or may have
// them where the zone does not see.
func (v *verifier) standing(m Match) string {
	switch m.Kind {
	case Exact, Wildcard:
		if _, ok := m.Node.Set(dns.TypeCNAME); ok {
			return isAlias
		}
		if v.addresses(m.Node) || v.unread {
			return ""
		}
		return noAddress
	case DNAME:
		return redirected
	case Missing:
		if !v.unread {
			return noAddress
		}
	}
	return ""
}

// addresses reports whether a node has addresses, of its own or by its service.
func (v *verifier) addresses(n *Node) bool {
	for _, t := range [...]uint16{dns.TypeA, dns.TypeAAAA} {
		if _, ok := n.Set(t); ok {
			return true
		}
	}
	d := v.drafts[n.name]
	if d.service < 0 {
		return false
	}
	gives := v.spec.Services[d.service].Gives
	return slices.Contains(gives, dns.TypeA) || slices.Contains(gives, dns.TypeAAAA)
}
