package zone

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
)

// The families of addresses of APL records (RFC 3123 section 4), and the bit for all but these.
const (
	familyIPv4 = 1
	familyIPv6 = 2
	negated    = 0x80
)

// prefixes reads "1:192.0.2.0/24 !2:2001:db8::/32" to the end of the record; there may be none. An address may have more bits than
// its prefix, and is sent as it is written but for zeros at its end.
func (d *formed) prefixes() fault {
	for ; d.at < len(d.words); d.at++ {
		w := d.words[d.at]
		written, negation := strings.CutPrefix(w.text, "!")
		family, written, _ := strings.Cut(written, ":")
		address, length, _ := strings.Cut(written, "/")
		a, err := netip.ParseAddr(address)
		bits, lengthErr := strconv.ParseUint(length, 10, 8)
		number := byte(familyIPv4)
		if a.Is6() {
			number = familyIPv6
		}
		if err != nil || lengthErr != nil || int(bits) > a.BitLen() || a.Zone() != "" || family != strconv.Itoa(int(number)) {
			return d.wrong(w, "%s is not a prefix of the form 1:192.0.2.0/24 or 2:2001:db8::/32")
		}
		octets := strings.TrimRight(string(a.AsSlice()), "\x00")
		size := byte(len(octets))
		if negation {
			size |= negated
		}
		d.data = append(append(d.data, 0, number, byte(bits), size), octets...)
	}
	return fault{}
}

// prefixesLength is how many octets the prefixes have.
func prefixesLength(data []byte) int {
	const head = 4
	most := [...]int{familyIPv4: 4, familyIPv6: 16}
	for rest := data; len(rest) > 0; {
		if len(rest) < head {
			return -1
		}
		family, size := int(binary.BigEndian.Uint16(rest)), int(rest[3]&^negated)
		known := family == familyIPv4 || family == familyIPv6
		if len(rest) < head+size || known && (size > most[family] || int(rest[2]) > 8*most[family]) {
			return -1
		}
		rest = rest[head+size:]
	}
	return len(data)
}
