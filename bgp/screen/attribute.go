package screen

import (
	"bytes"
	"net/netip"
)

// The path attributes that have a meaning here, by their type codes in the IANA registry.
const (
	attrOrigin          = 1
	attrASPath          = 2
	attrNextHop         = 3
	attrMED             = 4
	attrLocalPref       = 5
	attrAtomicAggregate = 6
	attrAggregator      = 7
	attrCommunities     = 8
	attrOriginatorID    = 9
	attrClusterList     = 10
	attrReach           = 14
	attrUnreach         = 15
	attrExtended        = 16
	attrAS4Path         = 17
	attrAS4Aggregator   = 18
	attrIPv6Extended    = 25
	attrLarge           = 32
	attrOnlyToCustomer  = 35

	attributeCodes = attrOnlyToCustomer + 1
)

// The attribute flags that count on receipt. Partial and the unused bits are looked at by nobody
// (RFC 7606 section 3 (c)).
const (
	flagOptional       byte = 0x80
	flagTransitive     byte = 0x40
	flagExtendedLength byte = 0x10
)

// attribute is one path attribute as it came (RFC 4271 section 4.3).
type attribute struct {
	flags, code byte
	value       []byte
	whole       []byte // header and value
}

// nextAttribute takes the first attribute; false where its header or its value is cut off. Then its flags and
// code are told as far as they came.
func nextAttribute(b []byte) (a attribute, rest []byte, ok bool) {
	if len(b) < 2 {
		return attribute{}, nil, false
	}
	a = attribute{flags: b[0], code: b[1]}
	width := 1
	if a.flags&flagExtendedLength != 0 {
		width = 2
	}
	value, rest, ok := field(b[2:], width)
	if !ok {
		return a, nil, false
	}
	a.value, a.whole = value, b[:len(b)-len(rest)]
	return a, rest, true
}

// rule is what the RFCs specify of one attribute.
type rule struct {
	flags    byte     // Optional and Transitive as they must be
	lengths  lengths  // of the value
	wrong    approach // to a malformed one
	internal bool     // means nothing from an external peer (RFC 7606 sections 7.5, 7.9, 7.10)
	passed   bool     // steering needs it
}

// lengths is what the length of a value may be.
type lengths struct {
	unit int
	list bool // any multiple of unit but none
	free bool // anything, as far as this goes
}

func exactly(n int) lengths { return lengths{unit: n} }
func listOf(n int) lengths  { return lengths{unit: n, list: true} }

func (l lengths) allow(n int) bool {
	return l.free || n == l.unit || l.list && n > 0 && n%l.unit == 0
}

// rule gives what is specified of the attribute, on this session; false for one that is unknown.
func (s *Session) rule(code byte) (rule, bool) {
	const both = flagOptional | flagTransitive
	switch code {
	case attrOrigin:
		return rule{flags: flagTransitive, lengths: exactly(1), wrong: withdraw, passed: true}, true
	case attrASPath:
		return rule{flags: flagTransitive, lengths: lengths{free: true}, wrong: withdraw, passed: true}, true
	case attrNextHop:
		return rule{flags: flagTransitive, lengths: exactly(4), wrong: withdraw, passed: true}, true
	case attrMED:
		return rule{flags: flagOptional, lengths: exactly(4), wrong: withdraw, passed: true}, true
	case attrLocalPref:
		return rule{flags: flagTransitive, lengths: exactly(4), wrong: withdraw, internal: true, passed: true}, true
	case attrAtomicAggregate:
		return rule{flags: flagTransitive, lengths: exactly(0), wrong: discard}, true
	case attrAggregator:
		return rule{flags: both, lengths: exactly(s.asWidth() + 4), wrong: discard}, true
	case attrCommunities:
		return rule{flags: both, lengths: listOf(4), wrong: withdraw, passed: true}, true
	case attrOriginatorID:
		return rule{flags: flagOptional, lengths: exactly(4), wrong: withdraw, internal: true}, true
	case attrClusterList:
		return rule{flags: flagOptional, lengths: listOf(4), wrong: withdraw, internal: true}, true
	case attrReach, attrUnreach:
		return rule{flags: flagOptional, lengths: lengths{free: true}, wrong: reset, passed: true}, true
	case attrExtended:
		return rule{flags: both, lengths: listOf(8), wrong: withdraw, passed: true}, true
	case attrAS4Path:
		return rule{flags: both, lengths: lengths{free: true}, wrong: discard}, true
	case attrAS4Aggregator:
		return rule{flags: both, lengths: exactly(8), wrong: discard}, true
	case attrIPv6Extended:
		return rule{flags: both, lengths: listOf(20), wrong: withdraw}, true
	case attrLarge:
		return rule{flags: both, lengths: listOf(12), wrong: withdraw, passed: true}, true
	case attrOnlyToCustomer: // RFC 9234 section 5
		return rule{flags: both, lengths: exactly(4), wrong: withdraw}, true
	default:
		return rule{}, false
	}
}

// asWidth is how many octets an AS number has on this session.
func (s *Session) asWidth() int {
	if s.FourOctetAS {
		return 4
	}
	return 2
}

// hostAddress tells whether a next hop could be the address of a host (RFC 4271 section 6.3): not
// of 0/8, not multicast, not of class E, not unspecified. Loopback addresses may be: partners that
// run beside the server announce them.
func hostAddress(b []byte) bool {
	a, _ := netip.AddrFromSlice(b)
	if a.Is4() {
		return b[0] != 0 && b[0] < 224
	}
	return !a.IsUnspecified() && !a.IsMulticast()
}

// hopAddress tells whether a next hop is a host's, and not ours (RFC 4271 section 6.3).
func (s *Session) hopAddress(b []byte) bool {
	a, _ := netip.AddrFromSlice(b)
	return hostAddress(b) && a != s.Own
}

// nextHop gives the one address of an MP_REACH_NLRI next hop field that is worth keeping: the first,
// or the link-local one of RFC 2545 section 3 where the first says nothing. False: none is a host's, or it is ours.
func (s *Session) nextHop(b []byte) ([]byte, bool) {
	if len(b) == 32 && !hostAddress(b[:16]) && bytes.Equal(b[:16], make([]byte, 16)) {
		b = b[16:]
	}
	b = b[:min(len(b), 16)]
	return b, s.hopAddress(b)
}

// plainCommunities keeps the extended communities that name an AS or an IPv4 address and cross AS
// borders (RFC 4360 sections 3.1 and 3.2, RFC 5668): the ones that an operator writes policy with.
func plainCommunities(b []byte) []byte {
	return keep(b, 8, func(_ []byte, c []byte) bool { return c[0] <= 2 })
}

// distinctCommunities removes large communities that come again (RFC 8092 section 3).
func distinctCommunities(b []byte) []byte {
	return keep(b, 12, func(before []byte, c []byte) bool {
		for ; len(before) > 0; before = before[12:] {
			if bytes.Equal(before[:12], c) {
				return false
			}
		}
		return true
	})
}

// keep gives the elements of b, size octets each, that wanted wants; it sees those before, too. Where
// all are wanted it gives b itself.
func keep(b []byte, size int, wanted func(before, element []byte) bool) []byte {
	for at := 0; at < len(b); at += size {
		if wanted(b[:at], b[at:at+size]) {
			continue
		}
		kept := append([]byte(nil), b[:at]...)
		for at += size; at < len(b); at += size {
			if element := b[at : at+size]; wanted(kept, element) {
				kept = append(kept, element...)
			}
		}
		return kept
	}
	return b
}
