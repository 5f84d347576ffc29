package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// addNS adds the name servers from the keys.
func (b *builder) addNS() {
	if len(b.spec.NS) == 0 {
		return
	}
	if given := b.drafts[b.origin].of(dns.TypeNS); len(given) > 0 {
		b.errorf(given[0].at, "the zone's keys name its NS too: keep the key ns or these records")
		return
	}
	for i, ns := range b.spec.NS {
		at := inKey(fmt.Sprintf("ns[%d]", i))
		if name, ok := b.keyName(ns, at); ok {
			b.addKey(&dns.NS{Hdr: b.header(dns.TypeNS), Ns: name}, at)
		}
	}
}

// addSOA adds the start of authority from the keys, or the default.
func (b *builder) addSOA() {
	given := b.drafts[b.origin].of(dns.TypeSOA)
	if len(given) > 0 {
		if b.spec.SOA != nil {
			b.errorf(given[0].at, "the zone's keys give its SOA too: keep the key soa or this record")
		}
		return
	}
	keys := SOA{Auto: true, Refresh: 3600, Retry: 600, Expire: 604800, Minimum: 60}
	if b.spec.SOA != nil {
		keys = *b.spec.SOA
	}
	mname, ok := b.keyName(cmp.Or(keys.MName, b.primary()), inKey("soa.mname"))
	rname, also := b.keyName(mailbox(cmp.Or(keys.RName, "hostmaster")), inKey("soa.rname"))
	if !ok || !also {
		return
	}
	soa := &dns.SOA{
		Hdr: b.header(dns.TypeSOA), Ns: mname, Mbox: rname, Serial: keys.Serial,
		Refresh: keys.Refresh, Retry: keys.Retry, Expire: keys.Expire, Minttl: keys.Minimum,
	}
	if keys.Auto {
		soa.Serial = 0
	}
	b.addKey(soa, inKey("soa"))
}

// primary is the name server for a SOA that names none: the first of the key, else the least of the
// records, else the origin.
func (b *builder) primary() string {
	if len(b.spec.NS) > 0 {
		return b.spec.NS[0]
	}
	given := b.drafts[b.origin].of(dns.TypeNS)
	if len(given) == 0 {
		return "@"
	}
	first := slices.MinFunc(given, func(a, b record) int { return cmp.Compare(a.rdata, b.rdata) })
	return Name(first.rdata).String()
}

// mailbox turns a mail address into the name that a SOA gives it (RFC 1035 section 8).
func mailbox(s string) string {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 || s[i-1] == '\\' {
		return s
	}
	return strings.ReplaceAll(s[:i], ".", `\.`) + "." + dns.Fqdn(s[i+1:])
}

// keyName makes a name from a key absolute, in the case it was written in.
func (b *builder) keyName(s string, at position) (string, bool) {
	name := absolute(s, b.origin.String())
	if _, err := ParseName(name); err != nil {
		b.errorf(at, "%s", err)
		return "", false
	}
	return name, true
}

// absolute continues a name in presentation form by the origin, unless it ends in a dot.
func absolute(s, origin string) string {
	switch {
	case s == "@":
		return origin
	case s == "" || dns.IsFqdn(s):
		return s
	case origin == ".":
		return s + "."
	default:
		return s + "." + origin
	}
}

// header is the header of an apex record made from keys.
func (b *builder) header(rrtype uint16) dns.RR_Header {
	return dns.RR_Header{Name: b.origin.String(), Rrtype: rrtype, Class: dns.ClassINET, Ttl: b.spec.TTL}
}

// addKey adds a record made from keys.
func (b *builder) addKey(rr dns.RR, at position) {
	if _, message := b.add(rr, at); message != "" {
		b.errorf(at, "%s", message)
	}
}

// addServices puts the services at their names.
func (b *builder) addServices() {
	for i, s := range b.spec.Services {
		at := inKey("services." + s.Name)
		name, err := ParseRelative(s.Name, b.origin)
		if err != nil {
			b.errorf(at, "%s", err)
			continue
		}
		if !name.Below(b.origin) {
			b.errorf(at, "%s is not in the zone %s", name, b.origin)
			continue
		}
		d := b.draft(name)
		if d.service >= 0 {
			b.errorf(at, "%s has a service already, by the key services.%s", name, b.spec.Services[d.service].Name)
			continue
		}
		d.service = i
	}
}
