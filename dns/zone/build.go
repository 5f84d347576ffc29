package zone

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Build makes the zone that a spec describes, and tells all mistakes in it at once, ordered by text
// and line, those in keys last. The zone is nil when one of them is more than a warning.
func Build(s Spec) (*Zone, []Problem) { return Rebuild(s, nil) }

// Rebuild is [Build] for a zone that may have been built before: when old was made of the same, and nothing was to be
// told of it, old itself is the result.
func Rebuild(s Spec, old *Zone) (*Zone, []Problem) {
	sum := s.sum()
	if old != nil && old.sum == sum {
		return old, nil
	}
	z, problems := fresh(s)
	if len(problems) == 0 {
		z.sum = sum
	}
	return z, problems
}

// fresh builds a zone without a past.
func fresh(s Spec) (*Zone, []Problem) {
	origin, err := ParseName(s.Origin)
	if err != nil {
		return nil, []Problem{{Text: -1, Message: "zone " + err.Error()}}
	}
	room := expected(s)
	b := &builder{spec: s, origin: origin, drafts: make(map[Name]*draft, room), names: make([]named, 0, room)}
	b.draft(origin)
	for i := range s.Texts {
		b.read(i)
	}
	b.addNS()
	b.addSOA()
	b.addServices()
	z := b.assemble()
	b.verify(z)
	slices.SortStableFunc(b.problems, compareProblems)
	if slices.ContainsFunc(b.problems, func(p Problem) bool { return !p.Warning }) {
		return nil, b.problems
	}
	if s.SOA == nil && !b.soaInText || s.SOA != nil && s.SOA.Auto {
		b.autoSerial(z)
	}
	return z, b.problems
}

// expected is about how many names a spec has. Of a very large text it is not believed beforehand: lines may be empty.
func expected(s Spec) int {
	const most = 1 << 20
	n := len(s.Services) + 1
	for _, t := range s.Texts {
		n += strings.Count(t.Text, "\n")
	}
	return min(n, most)
}

// compareProblems orders by text, line and column, with what stands in keys last.
func compareProblems(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(uint(a.Text), uint(b.Text)), // -1 becomes the greatest
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
	)
}

// builder collects what a zone will hold.
type builder struct {
	spec   Spec
	origin Name
	drafts map[Name]*draft
	names  []named // the drafts by name: as they came, and in canonical order once assembled
	spare  []draft // not in use yet: made many at a time, as names are many and drafts small
	room   []record

	soaInText bool // the zone's SOA is a record of a text
	unread    bool // a part of the texts could not be read, so what seems missing may stand there
	generated int  // bytes made by $GENERATE
	wire      [math.MaxUint16 + 512]byte
	problems  []Problem
	mistakes  int // among them, and beyond
	doubts    int
}

// draft is a name of the coming zone with what is said about it.
type draft struct {
	records []record // in the order of reading; by type once assembled
	service int      // index in Spec.Services, or -1
}

// record is a record and where it stands.
type record struct {
	rrtype uint16
	ttl    uint32
	rdata  string // wire form, canonical (RFC 4034 section 6.2)
	sent   string // as it goes into a packet, behind its length: see RRset
	at     position
}

// position is where something stands: in a text, or in a key when text is -1.
type position struct {
	text, line, column int
	key                string
}

// inKey is a position in a key.
func inKey(key string) position { return position{text: -1, key: key} }

// maxTold is how many mistakes and how many doubts are told of one zone, each.
const maxTold = 1000

// errorf tells a mistake that forbids the zone.
func (b *builder) errorf(at position, format string, args ...any) {
	b.tell(&b.mistakes, Problem{Message: format}, at, args)
}

// warnf tells what is doubtful.
func (b *builder) warnf(at position, format string, args ...any) {
	b.tell(&b.doubts, Problem{Message: format, Warning: true}, at, args)
}

// tell adds a problem, unless so many of its kind were told that nobody reads more.
func (b *builder) tell(told *int, p Problem, at position, args []any) {
	if *told++; *told > maxTold+1 {
		return
	}
	p.Text, p.Line, p.Column, p.Key = at.text, at.line, at.column, at.key
	p.Message = fmt.Sprintf(p.Message, args...)
	if *told > maxTold {
		p.Message = fmt.Sprintf("and more like these %d: they are not told", maxTold)
	}
	b.problems = append(b.problems, p)
}

// there points to a position for a reader who stands at another.
func (b *builder) there(to, from position) string {
	switch {
	case to.text < 0:
		return "key " + to.key
	case from.text >= 0 && b.spec.Texts[to.text].File == b.spec.Texts[from.text].File:
		return fmt.Sprintf("line %d", to.line)
	default:
		return fmt.Sprintf("%s:%d", b.spec.Texts[to.text].File, to.line)
	}
}

// draft returns the draft of a name, a new one if it has none.
func (b *builder) draft(n Name) *draft {
	d := b.drafts[n]
	if d != nil {
		return d
	}
	if len(b.spare) == 0 {
		b.spare, b.room = make([]draft, manyDrafts), make([]record, manyDrafts)
	}
	d, b.spare = &b.spare[0], b.spare[1:]
	d.service, d.records = -1, b.room[:0:1] // most names have one record
	b.room = b.room[1:]
	b.drafts[n], b.names = d, append(b.names, named{name: n, draft: d})
	return d
}

const manyDrafts = 256

// named is a draft with its name and the node that is made of it.
type named struct {
	name Name
	*draft
	node *Node
}

// add puts a record into its draft and returns its size in wire form, or says why not.
func (b *builder) add(rr dns.RR, at position) (size int, message string) {
	if reason := refuseHeader(rr.Header()); reason != "" {
		return 0, reason
	}
	owner, r, err := b.pack(rr)
	if err != nil {
		return 0, err.Error()
	}
	r.at = at
	return b.file(owner, r)
}

// addData puts a record whose data was read here into its draft, or says why not.
func (b *builder) addData(h *dns.RR_Header, data []byte, at position) (message string) {
	if reason := refuseHeader(h); reason != "" {
		return reason
	}
	if len(data) > math.MaxUint16 {
		return fmt.Sprintf("the data of this %s record has %d octets, and at most %d can be sent", TypeWord(h.Rrtype), len(data), math.MaxUint16)
	}
	owner, err := ParseName(h.Name)
	if err != nil {
		return err.Error()
	}
	r := record{rrtype: h.Rrtype, ttl: h.Ttl, sent: measured(string(data)), at: at}
	canonical(h.Rrtype, data)
	r.rdata = string(data)
	_, message = b.file(owner, r)
	return message
}

// file puts a record that can be served into the draft of its owner.
func (b *builder) file(owner Name, r record) (size int, message string) {
	if !owner.Below(b.origin) {
		return 0, fmt.Sprintf("%s is not in the zone %s", owner, b.origin)
	}
	d := b.draft(owner)
	d.records = append(d.records, r)
	b.soaInText = b.soaInText || r.rrtype == dns.TypeSOA && owner == b.origin && r.at.text >= 0
	return len(owner) + 10 + len(r.rdata), ""
}

// pack proves that a record can be sent and read again, for the parser leaves much of that unchecked,
// and returns its owner and its data.
func (b *builder) pack(rr dns.RR) (owner Name, r record, err error) {
	rrtype := dns.Type(rr.Header().Rrtype)
	written := int(rr.Header().Rdlength) // by RFC 3597 ("\# LENGTH"), else 0
	if c, ok := rr.(*dns.CSYNC); ok {    // whose types may be written in any order
		slices.Sort(c.TypeBitMap)
		c.TypeBitMap = slices.Compact(c.TypeBitMap)
	}
	end, err := dns.PackRR(rr, b.wire[:], 0, nil, false)
	if err != nil {
		return "", r, fmt.Errorf("the data of this %s record cannot be sent: %s", rrtype, reason(err))
	}
	owner, n, err := nameFromWire(b.wire[:end])
	if err != nil {
		return "", r, err
	}
	data := b.wire[n+10 : end] // after type, class, TTL and length
	if len(data) == 0 && !mayBeEmpty(rr) {
		return "", r, fmt.Errorf("this %s record has no data", rrtype)
	}
	if _, _, err := dns.UnpackRR(b.wire[:end], 0); err != nil {
		return "", r, fmt.Errorf("the data of this %s record cannot be read: %s", rrtype, reason(err))
	}
	r = record{rrtype: uint16(rrtype), ttl: rr.Header().Ttl, sent: measured(shorten(uint16(rrtype), data, b.origin))}
	canonical(uint16(rrtype), data)
	r.rdata = string(data)
	if written > 0 && !b.whole(rr, written, r.rdata) {
		return "", r, fmt.Errorf("these %d bytes are not the data of type %s", written, rrtype)
	}
	return owner, r, nil
}

// whole reports whether a record of a known type that was written as bytes has nothing left over and
// nothing missing at its end, where the parser stops in silence.
func (b *builder) whole(rr dns.RR, written int, rdata string) bool {
	if written != len(rdata) {
		return false
	}
	again, err := dns.NewRR(rr.String())
	if err != nil || again == nil {
		return false
	}
	_, twin, err := b.pack(again)
	return err == nil && twin.rdata == rdata
}

// reason is an error of the DNS library without its prefix.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "dns: ") }

// mayBeEmpty reports types whose data can have no bytes.
func mayBeEmpty(rr dns.RR) bool {
	switch rr.(type) {
	case *dns.APL, *dns.RFC3597:
		return true
	}
	return false
}

// of returns the records of one type.
func (d *draft) of(rrtype uint16) []record {
	var found []record
	for _, r := range d.records {
		if r.rrtype == rrtype {
			found = append(found, r)
		}
	}
	return found
}
