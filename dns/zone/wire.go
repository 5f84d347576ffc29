package zone

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/miekg/dns"
)

// RRset is all records of one type at one name (RFC 2181 section 5), in canonical order, with the TTL
// that they share. The zero value is no RRset.
//
// It is kept as it goes into a packet. Nearly every name in a zone ends in the zone's origin, and so does
// every question that is answered from it; so a name in a record's data is cut there, where it may be
// (see [Shortened]), and ends in a mark instead, a pointer to nowhere. Whoever writes a packet puts a
// pointer to the question in its place, and the data is compressed without a search.
type RRset struct {
	Type uint16
	TTL  uint32 // seconds

	wire string // of each record the length of its data, in two octets, and the data
}

// originMark stands in a record's data for the zone's origin. No name is at offset 0 of a packet.
const originMark = "\xc0\x00"

// Wire is the set's records, each as the length of its data in two octets and the data, with marks for the
// origin.
func (s RRset) Wire() string { return s.wire }

// Len is the number of records.
func (s RRset) Len() int {
	count := 0
	for rest := s.wire; len(rest) > 0; count++ {
		_, rest = nextData(rest)
	}
	return count
}

// nextData splits the first record's data off.
func nextData(wire string) (data, rest string) {
	n := 2 + int(wire[0])<<8 + int(wire[1])
	return wire[2:n], wire[n:]
}

// wire is the records of one set, put together.
func wire(set []record) string {
	if len(set) == 1 {
		return set[0].sent
	}
	var b strings.Builder
	for _, r := range set {
		b.WriteString(r.sent)
	}
	return b.String()
}

// measured is data with its length before it, as a set holds it.
func measured(data string) string {
	var length [2]byte
	binary.BigEndian.PutUint16(length[:], uint16(len(data)))
	return string(length[:]) + data
}

// Shortened tells how many names stand in the data of a type that may be compressed there, and how many
// octets stand before them. Those are the types that every resolver reads so (RFC 3597 section 4).
func Shortened(rrtype uint16) (before, names int) {
	switch rrtype {
	case dns.TypeNS, dns.TypeCNAME, dns.TypePTR:
		return 0, 1
	case dns.TypeMX:
		return 2, 1
	case dns.TypeSOA:
		return 0, 2
	}
	return 0, 0
}

// shorten is a record's data with marks for the origin.
func shorten(rrtype uint16, data []byte, origin Name) string {
	before, names := Shortened(rrtype)
	if names == 0 || origin == Root {
		return string(data)
	}
	short := append(make([]byte, 0, len(data)), data[:before]...)
	rest := data[before:]
	for range names {
		name, n, err := nameFromWire(rest)
		if err != nil {
			return string(data)
		}
		if name.Below(origin) {
			short = append(append(short, rest[:n-len(origin)]...), originMark...)
		} else {
			short = append(short, rest[:n]...)
		}
		rest = rest[n:]
	}
	return string(append(short, rest...))
}

// readName reads the name that data begins with, up to the origin where it has a mark.
func readName(data string, origin Name, into *[MaxName]byte) (n Name, ok bool) {
	at := 0
	for at < len(data) && data[at] > 0 && data[at] <= maxLabel {
		at += 1 + int(data[at])
	}
	end := Root
	switch {
	case at >= len(data):
		return "", false
	case data[at] > 0:
		end = origin
	}
	if at+len(end) > MaxName {
		return "", false
	}
	for i := range at {
		into[i] = lower(data[i])
	}
	return borrow(into[:at+copy(into[at:], end)]), true
}

// Points tells whether records of a type point to hosts whose addresses go with them.
func Points(rrtype uint16) bool {
	switch rrtype {
	case dns.TypeNS, dns.TypeMX, dns.TypeSRV, dns.TypeSVCB, dns.TypeHTTPS:
		return true
	}
	return false
}

// target is the host that a record points to, for the types that point to one. The name is good until into
// is written again.
func target(rrtype uint16, data string, owner, origin Name, into *[MaxName]byte) (host Name, ok bool) {
	switch rrtype {
	case dns.TypeNS:
	case dns.TypeMX:
		data = data[2:]
	case dns.TypeSRV:
		data = data[6:]
	case dns.TypeSVCB, dns.TypeHTTPS:
		alias := data[:2] == "\x00\x00"
		if data = data[2:]; data[0] == 0 && !alias {
			return owner, true // RFC 9460 section 2.5.2
		}
	default:
		return "", false
	}
	return readName(data, origin, into)
}

// BindingAlias reports an SVCB or HTTPS set that stands for the one of another name (RFC 9460 section 2.4.2).
func (s RRset) BindingAlias() bool {
	return (s.Type == dns.TypeSVCB || s.Type == dns.TypeHTTPS) && s.wire[2:4] == "\x00\x00"
}

// Records gives a set of node n in the form of the DNS library, for whoever does more with records than to
// send them. Those of types that have a form here are octets (RFC 3597).
func (z *Zone) Records(n *Node, set RRset) []dns.RR { return z.RecordsAt(n.name, set) }

// RecordsAt is [Zone.Records] for a set at any name.
func (z *Zone) RecordsAt(owner Name, set RRset) []dns.RR {
	var records []dns.RR
	_, own := formOfNumber(set.Type)
	h := dns.RR_Header{Name: owner.String(), Rrtype: set.Type, Class: dns.ClassINET, Ttl: set.TTL}
	for data, rest := "", set.wire; len(rest) > 0; {
		data, rest = nextData(rest)
		if own { // the library would not send every record of these types as it is
			records = append(records, &dns.RFC3597{Hdr: h, Rdata: hex.EncodeToString([]byte(data))})
			continue
		}
		b := []byte(z.origin + owner) // a mark points to offset 0, where the origin stands here
		b = binary.BigEndian.AppendUint16(b, set.Type)
		b = binary.BigEndian.AppendUint16(b, dns.ClassINET)
		b = binary.BigEndian.AppendUint32(b, set.TTL)
		b = binary.BigEndian.AppendUint16(b, uint16(len(data)))
		if rr, _, err := dns.UnpackRR(append(b, data...), len(z.origin)); err == nil {
			records = append(records, rr)
		}
	}
	return records
}
