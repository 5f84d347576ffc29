package zone

import "encoding/binary"

// NewRRset makes an RRset of records that are data in wire form, in canonical order, without marks.
func NewRRset(rrtype uint16, ttl uint32, data ...string) RRset {
	var b []byte
	for _, d := range data {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(d))), d...)
	}
	return RRset{Type: rrtype, TTL: ttl, wire: string(b)}
}

// AppendCanonical appends the records of a set as they are signed: with their owner, all names in full and in lower
// case, in canonical order (RFC 4034 sections 3.1.8.1 and 6.2).
func (z *Zone) AppendCanonical(to []byte, owner Name, set RRset) []byte {
	for data, rest := "", set.wire; len(rest) > 0; {
		data, rest = nextData(rest)
		to = append(to, owner...)
		to = binary.BigEndian.AppendUint16(to, set.Type)
		to = binary.BigEndian.AppendUint16(to, classIN)
		to = binary.BigEndian.AppendUint32(to, set.TTL)
		length := len(to)
		to = append(to, 0, 0)
		to = z.appendFull(to, set.Type, data)
		canonical(set.Type, to[length+2:])
		binary.BigEndian.PutUint16(to[length:], uint16(len(to)-length-2))
	}
	return to
}

const classIN = 1

// appendFull appends a record's data with the origin in place of its marks.
func (z *Zone) appendFull(to []byte, rrtype uint16, data string) []byte {
	before, names := Shortened(rrtype)
	to, data = append(to, data[:before]...), data[before:]
	for range names {
		at := 0
		for data[at] > 0 && data[at] <= maxLabel {
			at += 1 + int(data[at])
		}
		to = append(to, data[:at]...)
		if data[at] == 0 {
			to, data = append(to, 0), data[at+1:]
			continue
		}
		to, data = append(to, z.origin...), data[at+len(originMark):]
	}
	return append(to, data...)
}
