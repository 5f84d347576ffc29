package zone

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

const (
	// maxFaults is how many mistakes of syntax are told of one text: whoever names a wrong file
	// needs no hundred thousand of them.
	maxFaults = 50
	// maxTTL is the longest time to live (RFC 2181 section 8).
	maxTTL = math.MaxInt32
	// maxGenerated bounds what all $GENERATE lines of a zone make together, in bytes of wire form:
	// a short line must not fill the memory.
	maxGenerated = 16 << 20
	// maxEntry bounds the text of one entry, in bytes. The longest record, of 65,535 bytes that are all written as \DDD,
	// takes a quarter of it.
	maxEntry = 1 << 20
	// byteOrderMark is what some editors put before a text; it belongs to no name.
	byteOrderMark = "\ufeff"
)

// reader reads one text. What an entry may leave out is taken from the entries before it.
type reader struct {
	b       *builder
	text    int // index in Spec.Texts
	entries entries

	origin     string // $ORIGIN: absolute, in presentation form
	originName Name   // the same
	ttl        uint32 // $TTL
	owner      string // owner of the last record, in presentation form; "" before the first
	under      string // what continues it, unless it is absolute
	lost       bool   // the last owner could not be read, so records that rely on it are left out
	faults     int
}

// read adds the records of a text to the zone.
func (b *builder) read(text int) {
	r := reader{b: b, text: text, origin: b.origin.String(), originName: b.origin, ttl: b.spec.TTL}
	r.entries = entries{text: strings.TrimPrefix(b.spec.Texts[text].Text, byteOrderMark), line: 1}
	for e, ok := r.entries.next(); ok; e, ok = r.entries.next() {
		f := r.entry(e)
		if f.message == "" {
			continue
		}
		b.unread = true
		if r.faults++; r.faults > maxFaults {
			b.errorf(r.position(f.at), "more than %d lines cannot be read; the rest of this text was left out", maxFaults)
			return
		}
		b.errorf(r.position(f.at), "%s", f.message)
		r.recover(e)
	}
}

// position is a place in this text as problems give it.
func (r *reader) position(m mark) position {
	return position{text: r.text, line: r.b.spec.Texts[r.text].Line + m.line - 1, column: m.column}
}

// recover prepares for the entries after one that could not be read: its owner is still the owner of
// those that give none.
func (r *reader) recover(e entry) {
	if e.torn > 0 {
		r.entries.resumeTorn(e)
	}
	if strings.IndexByte(" \t$", e.text[0]) >= 0 {
		return
	}
	r.owner, r.lost = "", true
	if words := e.words(1); len(words) > 0 {
		if owner, err := r.absolute(words[0].text); err == nil {
			r.owner, r.lost = owner, false
		}
	}
}

// absolute continues a name by the current origin.
func (r *reader) absolute(s string) (string, error) {
	name := absolute(s, r.origin)
	_, err := ParseName(name)
	return name, err
}

// entry reads a record or a directive.
func (r *reader) entry(e entry) fault {
	if e.fault != "" {
		return fault{e.faultAt, e.fault}
	}
	if e.text[0] != '$' {
		return r.record(e)
	}
	words := e.words(math.MaxInt)
	switch directive := strings.ToUpper(words[0].text); directive {
	case "$ORIGIN":
		return r.setOrigin(e, words)
	case "$TTL":
		return r.setTTL(e, words)
	case "$GENERATE":
		return r.generate(e, words)
	case "$INCLUDE":
		return fault{e.mark, "$INCLUDE is not supported: name one file for the zone, with everything in it"}
	default:
		return fault{e.mark, fmt.Sprintf("unknown directive %q", directive)}
	}
}

// setOrigin obeys "$ORIGIN NAME".
func (r *reader) setOrigin(e entry, words []word) fault {
	if len(words) != 2 {
		return fault{e.mark, "$ORIGIN takes one name"}
	}
	origin := absolute(words[1].text, r.origin)
	name, err := ParseName(origin)
	if err != nil {
		return fault{e.placeOf(words[1]), "$ORIGIN: " + err.Error()}
	}
	r.origin, r.originName = origin, name
	return fault{}
}

// setTTL obeys "$TTL TIME" (RFC 2308 section 4).
func (r *reader) setTTL(e entry, words []word) fault {
	if len(words) != 2 {
		return fault{e.mark, "$TTL takes one time in seconds"}
	}
	ttl, ok := parseTTL(words[1].text)
	if !ok {
		return fault{e.placeOf(words[1]), fmt.Sprintf("$TTL: %q is not a time in seconds", words[1].text)}
	}
	r.ttl = ttl
	return fault{}
}

// placeOf is where a word of an entry stands.
func (e entry) placeOf(w word) mark {
	before := e.text[:w.start]
	return mark{e.line + strings.Count(before, "\n"), w.start - strings.LastIndexByte(before, '\n')}
}

// parseTTL reads seconds, or numbers with the units s, m, h, d and w ("1h30m").
func parseTTL(s string) (uint32, bool) {
	units := map[byte]uint64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 604800}
	var total, count uint64
	digits := false
	for _, c := range []byte(s) {
		unit, isUnit := units[lower(c)]
		switch {
		case digit(c):
			count, digits = count*10+uint64(c-'0'), true
		case isUnit && digits:
			total, count, digits = total+count*unit, 0, false
		default:
			return 0, false
		}
		if count > maxTTL || total > maxTTL {
			return 0, false
		}
	}
	total += count
	return uint32(total), s != "" && total <= maxTTL
}

// record reads an entry that is one record.
func (r *reader) record(e entry) fault {
	if f, ok := r.plain(e); ok {
		return f
	}
	d, own := r.formed(e)
	if !own {
		rr, f := r.parse(e, e.numbered())
		if f.message != "" || r.lost {
			return f
		}
		nameParameters(rr)
		_, message := r.b.add(rr, r.position(e.mark))
		return fault{e.mark, message}
	}
	rr, f := r.parse(e, d.header+anyType)
	if f.message != "" {
		return f
	}
	if f := d.read(); f.message != "" || r.lost {
		return f
	}
	rr.Header().Rrtype = d.rrtype
	return fault{e.mark, r.b.addData(rr.Header(), d.data, r.position(e.mark))}
}

// parse reads the text of an entry, or what stands for it, with the record parser. Whose record it is, is then known, unless
// that is lost.
func (r *reader) parse(e entry, text string) (dns.RR, fault) {
	p := r.parser(text)
	rr, ok := p.Next()
	if err := p.Err(); err != nil {
		return nil, parserFault(e, err)
	}
	if !ok {
		return nil, fault{e.mark, "this is not a record"}
	}
	if _, more := p.Next(); more || p.Err() != nil {
		return nil, fault{e.mark, "this is more than one record"}
	}
	header := rr.Header()
	if header.Name == "" {
		if r.owner == "" && !r.lost {
			return nil, fault{e.mark, "this record has no name, and none stands before it"}
		}
		header.Name = absolute(r.owner, r.under)
	}
	r.owner, r.lost = header.Name, header.Name == ""
	return rr, fault{}
}

// parser returns a record parser for one entry.
func (r *reader) parser(text string) *dns.ZoneParser {
	p := dns.NewZoneParser(strings.NewReader(text), r.origin, "")
	p.SetDefaultTTL(r.ttl)
	return p
}

// generate obeys BIND's "$GENERATE RANGE NAME [TTL] [CLASS] TYPE DATA". The parser limits the range to
// 65,536 steps.
func (r *reader) generate(e entry, words []word) fault {
	if len(words) < 5 {
		return fault{e.mark, "$GENERATE takes a range, a name, a type and data"}
	}
	r.owner, r.lost = "", false
	p := r.parser(r.withTTL(e, words))
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		if rr.Header().Name == "" {
			return fault{e.mark, "$GENERATE needs a name"}
		}
		size, message := r.b.add(rr, r.position(e.mark))
		if message != "" {
			return fault{e.mark, fmt.Sprintf("$GENERATE makes %s: %s", rr.Header().Name, message)}
		}
		if r.b.generated += size; r.b.generated > maxGenerated {
			return fault{e.mark, fmt.Sprintf("$GENERATE makes more than %d MiB of records in this zone", maxGenerated>>20)}
		}
	}
	if err := p.Err(); err != nil {
		f := parserFault(e, err)
		return fault{e.mark, "$GENERATE: " + f.message}
	}
	return fault{}
}

// withTTL is the text of a $GENERATE entry with the TTL written out, for the parser would take one
// hour and not the text's default.
func (r *reader) withTTL(e entry, words []word) string {
	const name, rest = 2, 3 // after $GENERATE and the range
	for _, w := range words[rest:] {
		if _, ok := dns.StringToType[strings.ToUpper(w.text)]; ok {
			break
		}
		if _, ok := parseTTL(w.text); ok {
			return e.text
		}
	}
	end := words[name].start + len(words[name].text)
	return e.text[:end] + " " + strconv.FormatUint(uint64(r.ttl), 10) + e.text[end:]
}
