package zone

import (
	"slices"

	"github.com/miekg/dns"
)

// verify tells what each name of an assembled zone says against itself and against the others.
func (b *builder) verify(z *Zone) {
	v := verifier{b, z, map[*Node]bool{}}
	v.servers()
	for _, n := range b.names {
		p := place{node: n.node, draft: n.draft}
		v.doubled(p)
		v.sendable(p)
		if p.plain() {
			continue
		}
		v.alias(p)
		v.authority(p)
		v.redirection(p)
		v.wildcard(p)
		v.hidden(p)
		v.service(p)
		v.targets(p)
	}
}

// verifier looks for mistakes between records.
type verifier struct {
	*builder
	zone *Zone
	glue map[*Node]bool // names below delegations whose addresses are needed
}

// place is a name with what was said about it.
type place struct {
	*draft
	node *Node
}

func (p place) name() Name { return p.node.name }

// plain tells a name that only has addresses, of which nothing else is to be said.
func (p place) plain() bool {
	if p.node.over != nil || p.draft.service >= 0 || p.name().Wildcard() {
		return false
	}
	_, other := p.firstBut(dns.TypeA, dns.TypeAAAA)
	return !other
}

// firstBut is the first record that is not of these types.
func (p place) firstBut(types ...uint16) (record, bool) {
	for _, r := range p.records {
		if !slices.Contains(types, r.rrtype) {
			return r, true
		}
	}
	return record{}, false
}

// doubled warns of a name that holds the zone's name twice: a final dot was forgotten.
func (v *verifier) doubled(p place) {
	relative := p.name()[:len(p.name())-len(v.origin)] + Root
	if v.origin == Root || !relative.Below(v.origin) {
		return
	}
	if at, ok := v.firstAt(p); ok {
		v.warnf(at, "%s repeats the zone's name: is a final dot missing?", p.name())
	}
}

// maxMessage is the octets of the longest message that there is: its length goes before it in 16 bits (RFC 1035
// section 4.2.2).
const maxMessage = 1<<16 - 1

// sendable refuses an RRset that is too long for any message, since no part of one may be sent (RFC 2181 section 9).
func (v *verifier) sendable(p place) {
	for _, set := range p.node.sets {
		if len(set.wire) < maxMessage/4 { // a quarter: around each address there stand three times its octets
			continue
		}
		const header, asked, around, opt = 12, 4, 10, 11
		size := header + len(p.name()) + asked + around*set.Len() + len(set.wire) + opt
		if size > maxMessage {
			v.errorf(p.of(set.Type)[0].at, "%s %s makes an answer of %d octets, and the longest that can be sent has %d",
				p.name(), TypeWord(set.Type), size, maxMessage)
		}
	}
}

// firstAt is where a name was first given anything.
func (v *verifier) firstAt(p place) (position, bool) {
	switch {
	case len(p.records) > 0:
		return p.records[0].at, true
	case p.draft.service >= 0:
		return inKey("services." + v.spec.Services[p.draft.service].Name), true
	}
	return position{}, false
}

// alias allows nothing beside a CNAME, not even another (RFC 1034 section 3.6.2, RFC 2181 section 10.1).
func (v *verifier) alias(p place) {
	aliases := p.of(dns.TypeCNAME)
	if len(aliases) == 0 {
		return
	}
	v.single(p, aliases)
	if other, ok := p.firstBut(dns.TypeCNAME); ok {
		at := aliases[0].at
		v.errorf(at, "%s has a CNAME and other data (%s at %s): a CNAME stands alone (RFC 1034 section 3.6.2)",
			p.name(), TypeWord(other.rrtype), v.there(other.at, at))
	}
}

// single allows one record of a type at a name; exact duplicates were told before.
func (v *verifier) single(p place, set []record) {
	for _, r := range set[1:] {
		if r.rdata != set[0].rdata {
			v.errorf(r.at, "%s has two %s records (the other at %s)",
				p.name(), TypeWord(r.rrtype), v.there(set[0].at, r.at))
		}
	}
}

// authority keeps the SOA at the apex and DS at delegations.
func (v *verifier) authority(p place) {
	soa := p.of(dns.TypeSOA)
	switch {
	case p.name() == v.origin && len(soa) > 0:
		v.single(p, soa)
	case len(soa) > 0:
		v.errorf(soa[0].at, "%s has a SOA, which only the zone's own name %s may have", p.name(), v.origin)
	}
	if ds := p.of(dns.TypeDS); len(ds) > 0 && p.node.over == nil {
		v.warnf(ds[0].at, "%s has a DS and is no delegation: it means nothing here", p.name())
	}
}

// redirection keeps names from standing below a DNAME (RFC 6672 section 2.4).
func (v *verifier) redirection(p place) {
	dnames := p.of(dns.TypeDNAME)
	if len(dnames) > 0 {
		v.single(p, dnames)
	}
	if len(dnames) > 0 && p.name() != v.origin && len(p.of(dns.TypeNS)) > 0 {
		v.errorf(dnames[0].at, "%s has a DNAME and is a delegation (RFC 6672 section 2.3)", p.name())
	}
	over := p.node.over
	if over == nil || over.cut() || len(p.records) == 0 {
		return
	}
	at := p.records[0].at
	v.errorf(at, "%s is below the DNAME of %s (%s): no names may be there (RFC 6672 section 2.4)",
		p.name(), over.name, v.there(v.hider(over), at))
}

// wildcard refuses what RFC 4592 leaves undefined.
func (v *verifier) wildcard(p place) {
	if !p.name().Wildcard() {
		return
	}
	if ns := p.of(dns.TypeNS); len(ns) > 0 && p.name() != v.origin {
		v.errorf(ns[0].at, "%s is a wildcard and cannot be delegated (RFC 4592 section 4.2)", p.name())
	}
	if dname := p.of(dns.TypeDNAME); len(dname) > 0 {
		v.warnf(dname[0].at, "%s is a wildcard, where a DNAME redirects nothing reliably (RFC 4592 section 4.4)", p.name())
	}
}

// hidden warns of records that a delegation keeps from ever being answered.
func (v *verifier) hidden(p place) {
	over := p.node.over
	if over == nil || !over.cut() {
		return
	}
	for _, set := range p.node.sets {
		switch {
		case p.node.cut() && (set.Type == dns.TypeNS || set.Type == dns.TypeDS):
			continue
		case v.glue[p.node] && (set.Type == dns.TypeA || set.Type == dns.TypeAAAA):
			continue
		}
		at := p.of(set.Type)[0].at
		v.warnf(at, "%s %s is hidden by the delegation of %s (%s) and never answered",
			p.name(), TypeWord(set.Type), over.name, v.there(v.hider(over), at))
	}
}

// hider is where the record stands that makes a node hide names.
func (v *verifier) hider(n *Node) position {
	rrtype := dns.TypeDNAME
	if n.cut() {
		rrtype = dns.TypeNS
	}
	return v.drafts[n.name].of(rrtype)[0].at
}

// service refuses records that the service at the name gives itself, and services nobody would be
// asked for.
func (v *verifier) service(p place) {
	if p.draft.service < 0 {
		return
	}
	s := v.spec.Services[p.draft.service]
	at := inKey("services." + s.Name)
	if s.Alias && p.name() == v.origin {
		v.errorf(at, "%s is the zone itself, which cannot be an alias (RFC 1034 section 3.6.2)", p.name())
	}
	for _, r := range p.records {
		if s.Alias && p.name() != v.origin {
			v.errorf(r.at, "%s %s stands beside a service (key %s) that makes the name an alias, which stands alone (RFC 1034 section 3.6.2)",
				p.name(), TypeWord(r.rrtype), at.key)
			continue
		}
		if r.rrtype == dns.TypeCNAME || slices.Contains(s.Gives, r.rrtype) {
			v.errorf(r.at, "%s %s stands beside a service (key %s), which gives the name's %s itself",
				p.name(), TypeWord(r.rrtype), at.key, s.given())
		}
	}
	over := p.node.over
	if over == nil {
		return
	}
	what := "is below the DNAME of"
	if over.cut() {
		what = "is hidden by the delegation of"
	}
	v.errorf(at, "%s %s %s (%s): the service would never be asked for", p.name(), what, over.name, v.there(v.hider(over), at))
}

// given is in words what a service gives.
func (s ServiceName) given() string {
	if slices.Contains(s.Gives, dns.TypeA) {
		return "addresses"
	}
	return "records"
}
