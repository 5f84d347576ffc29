package screen

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// The messages of the tests are built from small pieces, each a slice of bytes.

func cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func u16(n int) []byte    { return []byte{byte(n >> 8), byte(n)} }
func u32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// message puts a right header before a body.
func message(kind byte, body ...[]byte) []byte {
	b := cat(body...)
	return append(appendHeader(nil, HeaderLength+len(b), kind), b...)
}

// update builds an UPDATE of a withdrawn field, attributes and an NLRI field.
func updateOf(withdrawn []byte, attributes [][]byte, nlri []byte) []byte {
	a := cat(attributes...)
	return message(typeUpdate, u16(len(withdrawn)), withdrawn, u16(len(a)), a, nlri)
}

// announces is an UPDATE of the test prefix with these attributes.
func announces(attributes ...[]byte) []byte { return updateOf(nil, attributes, net("203.0.113.0/24")) }

// net is prefixes in wire form; "7:192.0.2.0/24" comes with path identifier 7.
func net(prefixes ...string) []byte {
	var b []byte
	for _, p := range prefixes {
		if id, rest, ok := strings.Cut(p, "#"); ok {
			var n uint32
			fmt.Sscan(id, &n)
			b, p = append(b, u32(n)...), rest
		}
		prefix := netip.MustParsePrefix(p)
		b = append(append(b, byte(prefix.Bits())), prefix.Addr().AsSlice()[:(prefix.Bits()+7)/8]...)
	}
	return b
}

// attr is one attribute with whatever flags and value.
func attr(flags, code byte, value ...[]byte) []byte {
	v := cat(value...)
	if flags&flagExtendedLength != 0 || len(v) > 255 {
		return cat([]byte{flags | flagExtendedLength, code}, u16(len(v)), v)
	}
	return cat([]byte{flags, code, byte(len(v))}, v)
}

func addr(s string) []byte { return netip.MustParseAddr(s).AsSlice() }

func segment4(kind byte, ases ...uint32) []byte {
	b := []byte{kind, byte(len(ases))}
	for _, a := range ases {
		b = append(b, u32(a)...)
	}
	return b
}

func segment2(kind byte, ases ...int) []byte {
	b := []byte{kind, byte(len(ases))}
	for _, a := range ases {
		b = append(b, u16(a)...)
	}
	return b
}

func origin(v byte) []byte        { return attr(0x40, 1, []byte{v}) }
func path(s ...[]byte) []byte     { return attr(0x40, 2, s...) }
func sequence(a ...uint32) []byte { return path(segment4(asSequence, a...)) }
func via(a string) []byte         { return attr(0x40, 3, addr(a)) }
func usual() []byte               { return cat(origin(0), sequence(64501, 64502), via("192.0.2.1")) }

func reach(afi, safi int, hop, nlri []byte) []byte {
	return attr(0x80, 14, u16(afi), []byte{byte(safi), byte(len(hop))}, hop, []byte{0}, nlri)
}

func unreach(afi, safi int, nlri []byte) []byte {
	return attr(0x80, 15, u16(afi), []byte{byte(safi)}, nlri)
}

// both is an established external session with both families and AS numbers of four octets.
func both() Session {
	return Session{
		Phase: Established, FourOctetAS: true, RouteRefresh: true,
		IPv4: Family{Agreed: true}, IPv6: Family{Agreed: true},
	}
}

// own is a session at an address of ours.
func own(address string) Session {
	return with(func(s *Session) { s.Own = netip.MustParseAddr(address) })
}

func with(change func(*Session)) Session {
	s := both()
	change(&s)
	return s
}

func internal() Session { return with(func(s *Session) { s.Internal = true }) }
func twoOctet() Session { return with(func(s *Session) { s.FourOctetAS = false }) }
func paths() Session    { return with(func(s *Session) { s.IPv4.AddPath, s.IPv6.AddPath = true, true }) }

// outcome tells a verdict in one line: what is forwarded, then what was wrong.
func outcome(v Verdict, s Session) string {
	var words []string
	if v.Notify != nil {
		words = append(words, "notify "+v.Notify.String())
	}
	if len(v.Forward) > 0 {
		words = append(words, forwarded(v.Forward, s))
	}
	notes := ""
	if v.Withdrawn > 0 {
		notes += fmt.Sprintf(" withdrawn=%d", v.Withdrawn)
	}
	if v.Dropped > 0 {
		notes += fmt.Sprintf(" dropped=%d", v.Dropped)
	}
	if v.Reason != NoReason {
		notes += " " + v.Reason.String()
	}
	if notes != "" {
		words = append(words, "|"+notes)
	}
	return strings.Join(words, " ")
}

// forwarded tells each message in a few words. It is the plain twin of the screen: a reader that
// trusts its input.
func forwarded(b []byte, s Session) string {
	var lines []string
	for len(b) > 0 {
		n := int(binary.BigEndian.Uint16(b[16:]))
		line := map[byte]string{1: "open", 3: "notification", 4: "keepalive", 5: "route-refresh"}[b[18]]
		if b[18] == typeUpdate {
			line = tellUpdate(b[HeaderLength:n], s)
		}
		lines, b = append(lines, line), b[n:]
	}
	return strings.Join(lines, "; ")
}

func tellUpdate(b []byte, s Session) string {
	w := int(binary.BigEndian.Uint16(b))
	withdrawn, b := b[2:2+w], b[2+w:]
	a := int(binary.BigEndian.Uint16(b))
	attributes, nlri := b[2:2+a], b[2+a:]
	line := tellNets("withdraw", withdrawn, 4, s.IPv4.AddPath) + tellNets("announce", nlri, 4, s.IPv4.AddPath)
	for len(attributes) > 0 {
		head, n := 3, int(attributes[2])
		if attributes[0]&0x10 != 0 {
			head, n = 4, int(binary.BigEndian.Uint16(attributes[2:]))
		}
		line += tellAttribute(attributes[1], attributes[head:head+n], s)
		attributes = attributes[head+n:]
	}
	if line == "" {
		return "end-of-rib 1"
	}
	return strings.TrimPrefix(line, " ")
}

func tellAttribute(code byte, v []byte, s Session) string {
	switch code {
	case attrOrigin:
		return " " + [...]string{"igp", "egp", "incomplete"}[v[0]]
	case attrASPath:
		return tellPath(v)
	case attrNextHop:
		a, _ := netip.AddrFromSlice(v)
		return " via " + a.String()
	case attrReach:
		hop, _ := netip.AddrFromSlice(v[4 : 4+v[3]])
		return tellNets("announce", v[5+v[3]:], int(v[1])*12-8, s.family(family(v[1])).AddPath) + " via " + hop.String()
	case attrUnreach:
		if len(v) == 3 {
			return fmt.Sprintf("end-of-rib %d", v[1])
		}
		return tellNets("withdraw", v[3:], int(v[1])*12-8, s.family(family(v[1])).AddPath)
	default:
		return fmt.Sprintf(" %d=%x", code, v)
	}
}

func tellPath(v []byte) string {
	var words []string
	for len(v) > 0 {
		if v[0] == asSet {
			words = append(words, "set")
		}
		n := int(v[1])
		for i := range n {
			words = append(words, fmt.Sprint(binary.BigEndian.Uint32(v[2+4*i:])))
		}
		v = v[2+4*n:]
	}
	return " [" + strings.Join(words, " ") + "]"
}

func tellNets(word string, b []byte, octets int, paths bool) string {
	line := ""
	for len(b) > 0 {
		id := ""
		if paths {
			id, b = fmt.Sprintf("%d#", binary.BigEndian.Uint32(b)), b[4:]
		}
		a, n := make([]byte, octets), (int(b[0])+7)/8
		copy(a, b[1:1+n])
		address, _ := netip.AddrFromSlice(a)
		line += fmt.Sprintf(" %s%s/%d", id, address, b[0])
		b = b[1+n:]
	}
	if line == "" {
		return ""
	}
	return " " + word + line
}
