package zone

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// plain is the commonest kind of entry, taken apart: an address at a name, "www 300 IN A 192.0.2.1".
type plain struct {
	owner   string
	ttl     uint32
	address netip.Addr
}

// plainOwner is the bytes of the owners that [entry.plain] takes: none of them needs an escape.
const plainOwner = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// plain reads an entry of one line that is nothing but an address at a name, and is written in the usual
// way. Zones with very many names consist of these, and it costs a fifth of what the record parser does.
// Whatever else an entry is, also when it is wrong, is for the parser.
func (e entry) plain(ttl uint32) (p plain, ok bool) {
	if strings.ContainsAny(e.text, "\"()\\\r") || strings.IndexByte(plainOwner, e.text[0]) < 0 {
		return plain{}, false
	}
	text, _, _ := strings.Cut(e.text[:len(e.text)-1], ";")
	p.ttl = ttl
	p.owner, text = field(text)
	for _, c := range []byte(p.owner) {
		if strings.IndexByte(plainOwner, c) < 0 {
			return plain{}, false
		}
	}
	word, text := field(text)
	if word != "" && digit(word[0]) {
		n, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return plain{}, false
		}
		p.ttl = uint32(n)
		word, text = field(text)
	}
	if word == "IN" {
		word, text = field(text)
	}
	data, rest := field(text)
	if rest, _ = field(rest); rest != "" {
		return plain{}, false
	}
	var err error
	if p.address, err = netip.ParseAddr(data); err != nil || p.address.Zone() != "" {
		return plain{}, false
	}
	return p, word == "A" && p.address.Is4() || word == "AAAA" && p.address.Is6()
}

// field takes the next word off a line.
func field(line string) (word, rest string) {
	start := 0
	for start < len(line) && (line[start] == ' ' || line[start] == '\t') {
		start++
	}
	end := start
	for end < len(line) && line[end] != ' ' && line[end] != '\t' {
		end++
	}
	return line[start:end], line[end:]
}

// record is the record, without its place.
func (p plain) record() record {
	r := record{rrtype: dns.TypeA, ttl: p.ttl}
	if p.address.Is6() {
		data := p.address.As16()
		r.rrtype, r.sent = dns.TypeAAAA, measured(string(data[:]))
	} else {
		data := p.address.As4()
		r.sent = measured(string(data[:]))
	}
	r.rdata = r.sent[2:]
	return r
}

// plain adds a plain entry to the zone, and tells whether it was one.
func (r *reader) plain(e entry) (f fault, ok bool) {
	p, ok := e.plain(r.ttl)
	if !ok {
		return fault{}, false
	}
	name, err := ParseRelative(p.owner, r.originName)
	if err != nil {
		return fault{}, false
	}
	r.owner, r.under, r.lost = p.owner, r.origin, false
	record := p.record()
	record.at = r.position(e.mark)
	_, message := r.b.file(name, record)
	return fault{e.mark, message}, true
}
