package dns_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns/zone"
)

// validator judges signed replies as a resolver does that trusts one key: the slow, obvious way (RFC 4035 section 5,
// RFC 5155 section 8).
type validator struct {
	key    *mdns.DNSKEY
	origin string
	now    time.Time
}

// group is the records of one RRset in one section, with the signatures beside them.
type group struct {
	name    string
	rrtype  uint16
	records []mdns.RR
	sigs    []*mdns.RRSIG
}

// groups takes a section apart.
func groups(section []mdns.RR) (all []*group) {
	of := func(name string, rrtype uint16) *group {
		for _, g := range all {
			if g.name == name && g.rrtype == rrtype {
				return g
			}
		}
		all = append(all, &group{name: name, rrtype: rrtype})
		return all[len(all)-1]
	}
	for _, rr := range section {
		name := mdns.CanonicalName(rr.Header().Name)
		if s, ok := rr.(*mdns.RRSIG); ok {
			of(name, s.TypeCovered).sigs = append(of(name, s.TypeCovered).sigs, s)
			continue
		}
		g := of(name, rr.Header().Rrtype)
		g.records = append(g.records, rr)
	}
	return all
}

// judge says what is wrong with a reply.
func (v validator) judge(m *mdns.Msg) error {
	denials := denials{v: v}
	answers, authority := groups(m.Answer), groups(m.Ns)
	for _, g := range authority {
		if g.rrtype == mdns.TypeNSEC || g.rrtype == mdns.TypeNSEC3 {
			denials.records = append(denials.records, g.records...)
		}
	}
	for i, g := range append(slices.Clone(answers), authority...) {
		if err := v.group(g, answers, i < len(answers), denials); err != nil {
			return fmt.Errorf("%s %s: %w", g.name, mdns.Type(g.rrtype), err)
		}
	}
	return v.rest(m, answers, authority, denials)
}

// group judges one RRset.
func (v validator) group(g *group, answers []*group, answer bool, d denials) error {
	switch {
	case g.rrtype == mdns.TypeNS && g.name != v.origin && len(g.sigs) == 0: // the child's
		return nil
	case answer && g.rrtype == mdns.TypeCNAME && synthesized(g.name, answers):
		return nil
	case len(g.records) == 0:
		if answer {
			return nil // signatures are what was asked for
		}
		return fmt.Errorf("a signature of nothing")
	case len(g.sigs) == 0:
		return fmt.Errorf("no signature")
	}
	for _, s := range g.sigs {
		if err := s.Verify(v.key, g.records); err != nil {
			return err
		}
		if !s.ValidityPeriod(v.now) {
			return fmt.Errorf("a signature from %d to %d", s.Inception, s.Expiration)
		}
		if ttl := g.records[0].Header().Ttl; s.Hdr.Ttl != ttl || ttl > s.OrigTtl {
			return fmt.Errorf("TTL %d, its signature %d, original %d", ttl, s.Hdr.Ttl, s.OrigTtl)
		}
		labels := mdns.SplitDomainName(g.name)
		if labels[0] == "*" {
			labels = labels[1:]
		}
		if extra := len(labels) - int(s.Labels); extra > 0 {
			next := strings.Join(labels[extra-1:], ".") + "."
			if !d.covers(next) {
				return fmt.Errorf("no proof that %s is not there, so that the wildcard stands in", next)
			}
		}
	}
	return nil
}

// synthesized tells whether an alias comes from a DNAME.
func synthesized(name string, answers []*group) bool {
	return slices.ContainsFunc(answers, func(g *group) bool {
		return g.rrtype == mdns.TypeDNAME && name != g.name && mdns.IsSubDomain(g.name, name)
	})
}

// rest judges what is not there.
func (v validator) rest(m *mdns.Msg, answers, authority []*group, d denials) error {
	q := m.Question[0]
	name := mdns.CanonicalName(q.Name)
	for range answers {
		for _, g := range answers {
			if g.rrtype == mdns.TypeCNAME && g.name == name && !slices.Contains(unfollowed, q.Qtype) {
				name = mdns.CanonicalName(g.records[0].(*mdns.CNAME).Target)
			}
		}
	}
	for _, g := range answers {
		if g.name == name && (g.rrtype == q.Qtype || g.rrtype == mdns.TypeCNAME || q.Qtype == mdns.TypeANY || q.Qtype == mdns.TypeRRSIG) {
			return nil // also an alias that leads to itself
		}
	}
	if !mdns.IsSubDomain(v.origin, name) || len(m.Ns) == 0 && len(m.Answer) > 0 || m.Rcode != mdns.RcodeSuccess && m.Rcode != mdns.RcodeNameError {
		return nil
	}
	for _, g := range authority {
		if g.rrtype == mdns.TypeNS {
			signed := slices.ContainsFunc(authority, func(o *group) bool { return o.rrtype == mdns.TypeDS && o.name == g.name })
			if !signed && !d.lacks(g.name, mdns.TypeDS) {
				return fmt.Errorf("no proof that %s is not signed", g.name)
			}
			return nil
		}
	}
	if m.Rcode == mdns.RcodeNameError {
		return d.missing(name)
	}
	return d.nodata(name, q.Qtype)
}

// unfollowed are the types that an alias itself is an answer to.
var unfollowed = []uint16{mdns.TypeCNAME, mdns.TypeANY, mdns.TypeRRSIG}

// denials is the records of denial of a reply.
type denials struct {
	v       validator
	records []mdns.RR
}

// missing says why it is not proved that a name does not exist.
func (d denials) missing(name string) error {
	next, encloser, ok := d.encloser(name)
	if !ok || !d.covers(next) {
		return fmt.Errorf("no proof that %s does not exist", name)
	}
	if !d.covers("*." + encloser) {
		return fmt.Errorf("no proof that there is no *.%s", encloser)
	}
	return nil
}

// nodata says why it is not proved that a name has no such records.
func (d denials) nodata(name string, rrtype uint16) error {
	if d.lacks(name, rrtype) || d.emptyNonTerminal(name) {
		return nil
	}
	next, encloser, ok := d.encloser(name)
	if ok && d.covers(next) && d.lacks("*."+encloser, rrtype) {
		return nil
	}
	return fmt.Errorf("no proof that %s has no %s", name, mdns.Type(rrtype))
}

// lacks tells whether a record at a name tells that it has no records of a type, and no alias.
func (d denials) lacks(name string, rrtype uint16) bool {
	for _, rr := range d.records {
		var types []uint16
		switch rr := rr.(type) {
		case *mdns.NSEC:
			if mdns.CanonicalName(rr.Hdr.Name) != name {
				continue
			}
			types = rr.TypeBitMap
		case *mdns.NSEC3:
			if !rr.Match(name) {
				continue
			}
			types = rr.TypeBitMap
		}
		return !slices.Contains(types, rrtype) && !slices.Contains(types, mdns.TypeCNAME)
	}
	return false
}

// emptyNonTerminal tells whether a name lies between two so that it must be there.
func (d denials) emptyNonTerminal(name string) bool {
	return slices.ContainsFunc(d.records, func(rr mdns.RR) bool {
		n, ok := rr.(*mdns.NSEC)
		return ok && between(n.Hdr.Name, name, n.NextDomain) && mdns.IsSubDomain(name, n.NextDomain)
	})
}

// covers tells whether it is proved that a name does not exist, nor anything below it.
func (d denials) covers(name string) bool {
	return slices.ContainsFunc(d.records, func(rr mdns.RR) bool {
		switch rr := rr.(type) {
		case *mdns.NSEC:
			return between(rr.Hdr.Name, name, rr.NextDomain) && !mdns.IsSubDomain(name, rr.NextDomain)
		case *mdns.NSEC3:
			return rr.Cover(name)
		}
		return false
	})
}

// between tells whether a name stands behind one and before the next, which may be the first again.
func between(owner, name, next string) bool {
	a, n, b := nameOf(owner), nameOf(name), nameOf(next)
	if a.Compare(b) >= 0 {
		return a.Compare(n) < 0 || n.Compare(b) < 0
	}
	return a.Compare(n) < 0 && n.Compare(b) < 0
}

func nameOf(s string) zone.Name {
	n, err := zone.ParseName(s)
	if err != nil {
		panic(err)
	}
	return n
}

// encloser finds the longest ancestor of a name that the records prove to exist, and the name one label longer.
func (d denials) encloser(name string) (next, encloser string, ok bool) {
	for next, encloser = name, name; ; {
		exists := encloser == d.v.origin || slices.ContainsFunc(d.records, func(rr mdns.RR) bool {
			switch rr := rr.(type) {
			case *mdns.NSEC:
				return mdns.IsSubDomain(encloser, mdns.CanonicalName(rr.Hdr.Name)) || mdns.IsSubDomain(encloser, mdns.CanonicalName(rr.NextDomain))
			case *mdns.NSEC3:
				return rr.Match(encloser)
			}
			return false
		})
		if exists {
			return next, encloser, next != encloser
		}
		next = encloser
		i, end := mdns.NextLabel(encloser, 0)
		if end {
			return "", "", false
		}
		encloser = encloser[i:]
	}
}
