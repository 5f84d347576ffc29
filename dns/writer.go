package dns

import (
	"encoding/binary"
	"net/netip"

	"github.com/miekg/dns"

	"gslb/dns/steer"
	"gslb/dns/zone"
)

// writer puts a reply together in a buffer, front to back.
//
// It compresses by pointers into the question only, in which nearly every name of the reply ends: a name that it
// writes points to what both end in, and a record that is kept in its wire form points to the zone's origin there
// ([zone.RRset]). That costs no search, and no pointer can be out of reach. What does not fit is not begun: the writer
// says so ([writer.over]), and stays within its room whatever it is told to write.
type writer struct {
	b     []byte
	start int // of the reply in b
	room  int // octets that the header and the records may take
	over  bool

	asked  zone.Name // the question's name; "": there is no question
	counts [4]uint16 // of the sections
	at     section
}

type section int

const (
	question section = iota
	answers
	authority
	additional
)

// begin writes the question as it was asked, behind room for the header.
func (w *writer) begin(to []byte, q *query, room int) {
	*w = writer{b: append(to, q.head...), start: len(to), room: room}
	if q.end > 0 {
		w.asked = q.name
		w.counts[question] = 1
	}
}

// mark is a point in a reply that can be gone back to.
type mark struct {
	length int
	counts [4]uint16
}

func (w *writer) mark() mark { return mark{len(w.b), w.counts} }

// back takes away what was written since.
func (w *writer) back(to mark) { w.b, w.counts, w.over = w.b[:to.length], to.counts, false }

// header fills in the header.
func (w *writer) header(id, flags uint16) {
	c := &w.counts
	*(*[headerSize]byte)(w.b[w.start:]) = [headerSize]byte{
		byte(id >> 8), byte(id), byte(flags >> 8), byte(flags),
		byte(c[question] >> 8), byte(c[question]), byte(c[answers] >> 8), byte(c[answers]),
		byte(c[authority] >> 8), byte(c[authority]), byte(c[additional] >> 8), byte(c[additional]),
	}
}

// fits tells whether so many octets more have room, and remembers when they had not.
func (w *writer) fits(octets int) bool {
	w.over = w.over || len(w.b)-w.start+octets > w.room
	return !w.over
}

// size is the octets that [writer.name] writes.
func (w *writer) size(n zone.Name) int {
	if n == w.asked && n != zone.Root { // the commonest case
		return 2
	}
	octets := 0
	for n != zone.Root {
		if n == w.asked || w.asked.Below(n) {
			return octets + 2
		}
		label := 1 + int(n[0])
		octets, n = octets+label, n[label:]
	}
	return octets + 1
}

// name writes a name, with a pointer to the question for what both end in.
func (w *writer) name(n zone.Name) {
	for n != zone.Root {
		if w.asked.Below(n) {
			w.pointer(headerSize + len(w.asked) - len(n))
			return
		}
		label := 1 + int(n[0])
		w.b = append(w.b, n[:label]...)
		n = n[label:]
	}
	w.b = append(w.b, 0)
}

func (w *writer) pointer(offset int) {
	w.b = append(w.b, 0xc0|byte(offset>>8), byte(offset))
}

// fixed is the octets between a record's owner and its data, the length of the data included.
const fixed = 10

// record writes what stands before a record's data, and makes room for the length of the data.
func (w *writer) record(owner zone.Name, rrtype, class uint16, ttl uint32) {
	if owner == w.asked && owner != zone.Root { // the commonest case
		w.pointer(headerSize)
	} else {
		w.name(owner)
	}
	w.b = append(w.b, byte(rrtype>>8), byte(rrtype), byte(class>>8), byte(class),
		byte(ttl>>24), byte(ttl>>16), byte(ttl>>8), byte(ttl))
	w.counts[w.at]++
}

// set writes an RRset of zone z.
func (w *writer) set(z *zone.Zone, owner zone.Name, set zone.RRset, ttl uint32) {
	before := w.size(owner) + fixed - 2 // the length stands in the wire form too
	for wire := set.Wire(); len(wire) > 0; {
		n := 2 + int(wire[0])<<8 + int(wire[1])
		if !w.fits(before + n) {
			return
		}
		w.record(owner, set.Type, dns.ClassINET, ttl)
		data := len(w.b) + 2
		w.b = append(w.b, wire[:n]...)
		w.origin(z, set.Type, data)
		wire = wire[n:]
	}
}

// origin puts pointers to the zone's origin in the question where the data has marks for it.
func (w *writer) origin(z *zone.Zone, rrtype uint16, data int) {
	before, names := zone.Shortened(rrtype)
	at := data + before
	for range names {
		for w.b[at] > 0 && w.b[at] < 0xc0 {
			at += 1 + int(w.b[at])
		}
		if w.b[at] == 0 {
			at++
			continue
		}
		offset := headerSize + len(w.asked) - len(z.Origin())
		w.b[at], w.b[at+1] = 0xc0|byte(offset>>8), byte(offset)
		at += 2
	}
}

// address writes an A or AAAA record.
func (w *writer) address(owner zone.Name, a netip.Addr, ttl uint32) {
	if !w.fits(w.size(owner) + fixed + a.BitLen()/8) {
		return
	}
	if a.Is4() {
		b := a.As4()
		w.record(owner, dns.TypeA, dns.ClassINET, ttl)
		w.b = append(append(w.b, 0, 4), b[:]...)
		return
	}
	b := a.As16()
	w.record(owner, dns.TypeAAAA, dns.ClassINET, ttl)
	w.b = append(append(w.b, 0, 16), b[:]...)
}

// alias writes a CNAME record.
func (w *writer) alias(owner, target zone.Name, ttl uint32) {
	if !w.fits(w.size(owner) + fixed + w.size(target)) {
		return
	}
	w.record(owner, dns.TypeCNAME, dns.ClassINET, ttl)
	length := len(w.b)
	w.b = append(w.b, 0, 0)
	w.name(target)
	binary.BigEndian.PutUint16(w.b[length:], uint16(len(w.b)-length-2))
}

// location writes a SRV record, whose name is never compressed (RFC 2782).
func (w *writer) location(owner zone.Name, ttl uint32, h steer.Host) {
	if !w.fits(w.size(owner) + fixed + 6 + len(h.Name)) {
		return
	}
	w.record(owner, dns.TypeSRV, dns.ClassINET, ttl)
	w.b = binary.BigEndian.AppendUint16(w.b, uint16(6+len(h.Name)))
	w.b = h.AppendData(w.b)
}

// binding writes an HTTPS record.
func (w *writer) binding(owner zone.Name, ttl uint32, b *steer.Binding, ipv4, ipv6 []netip.Addr) {
	const head = 4 // of a parameter: its key and length
	if !w.fits(w.size(owner) + fixed + 3 + 4*head + len(b.ALPN) + 2 + 4*len(ipv4) + 16*len(ipv6)) {
		return
	}
	w.record(owner, dns.TypeHTTPS, dns.ClassINET, ttl)
	length := len(w.b)
	w.b = b.AppendData(append(w.b, 0, 0), ipv4, ipv6)
	binary.BigEndian.PutUint16(w.b[length:], uint16(len(w.b)-length-2))
}

// strings writes a record of character strings (RFC 1035 section 3.3), at most 255 octets each.
func (w *writer) strings(owner zone.Name, rrtype, class uint16, ttl uint32, texts ...string) {
	size := 0
	for _, text := range texts {
		size += 1 + len(text)
	}
	if !w.fits(w.size(owner) + fixed + size) {
		return
	}
	w.record(owner, rrtype, class, ttl)
	w.b = binary.BigEndian.AppendUint16(w.b, uint16(size))
	for _, text := range texts {
		w.b = append(append(w.b, byte(len(text))), text...)
	}
}
