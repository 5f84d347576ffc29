package bgp

import (
	"bytes"
	"encoding/binary"
	"net/netip"
)

// The messages of a peer made by hand. Nothing here checks anything: what is wrong is sent as it is.

// The flags of path attributes.
const (
	wellKnown  byte = 0x40
	optional   byte = 0x80
	transitive byte = 0xc0 // and optional
)

var (
	hopIPv4 = []byte{192, 0, 2, 9}
	hopIPv6 = netip.MustParseAddr("2001:db8::9").AsSlice()
)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// message is a whole message.
func message(kind byte, body ...byte) []byte {
	head := bytes.Repeat([]byte{0xff}, 16)
	return append(append(binary.BigEndian.AppendUint16(head, uint16(19+len(body))), kind), body...)
}

func keepalive() []byte { return message(4) }

// update is an UPDATE of the three fields.
func update(withdrawn, attributes, announced []byte) []byte {
	body := append(binary.BigEndian.AppendUint16(nil, uint16(len(withdrawn))), withdrawn...)
	body = append(binary.BigEndian.AppendUint16(body, uint16(len(attributes))), attributes...)
	return message(2, append(body, announced...)...)
}

func attribute(flags, code byte, value ...byte) []byte {
	return append([]byte{flags, code, byte(len(value))}, value...)
}

func origin(v ...byte) []byte { return attribute(wellKnown, 1, v...) }

// path is an AS_PATH of one sequence.
func path(ases ...uint32) []byte { return attribute(wellKnown, 2, sequence(ases...)...) }

func sequence(ases ...uint32) []byte {
	value := []byte{2, byte(len(ases))}
	for _, a := range ases {
		value = binary.BigEndian.AppendUint32(value, a)
	}
	return value
}

func hop(v ...byte) []byte { return attribute(wellKnown, 3, v...) }

// base is the attributes that every route has.
func base() []byte { return join(origin(0), path(64501, 64502), hop(hopIPv4...)) }

// nlri is a prefix in wire form.
func nlri(prefix string) []byte {
	p := netip.MustParsePrefix(prefix)
	return append([]byte{byte(p.Bits())}, p.Addr().AsSlice()[:(p.Bits()+7)/8]...)
}

// good announces a prefix as it should be.
func good(prefix string) []byte {
	if netip.MustParsePrefix(prefix).Addr().Is6() {
		return update(nil, join(origin(0), path(64501, 64502), reach(prefix)), nil)
	}
	return update(nil, base(), nlri(prefix))
}

// reach is an MP_REACH_NLRI of an IPv6 prefix.
func reach(prefix string) []byte {
	return attribute(optional, 14, reachValue(hopIPv6, nlri(prefix))...)
}

func reachValue(hop, prefixes []byte) []byte {
	return join([]byte{0, 2, 1, byte(len(hop))}, hop, []byte{0}, prefixes)
}

// unreach is an MP_UNREACH_NLRI of IPv6 prefixes in wire form.
func unreach(prefixes ...byte) []byte {
	return attribute(optional, 15, append([]byte{0, 2, 1}, prefixes...)...)
}

// ends is the end-of-RIB of both families.
func ends() []byte { return join(update(nil, nil, nil), update(nil, unreach(), nil)) }

// open is an OPEN; parameters are the optional parameters, written as they are.
type open struct {
	version    byte
	asn, hold  uint16
	id         [4]byte
	parameters []byte
}

// fair is an OPEN with nothing wrong; AS 64501 offers both families and four-octet AS numbers.
func fair() open {
	return open{4, 64501, 90, [4]byte{192, 0, 2, 9}, capabilities(capability(1, 0, 1, 0, 1), capability(1, 0, 2, 0, 1), capability(65, 0, 0, 0xfb, 0xf5))}
}

// several is a fair OPEN that announces to send several paths of a prefix (RFC 7911).
func several() open {
	o := fair()
	o.parameters = append(o.parameters, capabilities(capability(69, 0, 1, 1, 2, 0, 2, 1, 2))...)
	return o
}

func (o open) message() []byte {
	body := binary.BigEndian.AppendUint16([]byte{o.version}, o.asn)
	body = append(binary.BigEndian.AppendUint16(body, o.hold), o.id[:]...)
	return message(1, append(append(body, byte(len(o.parameters))), o.parameters...)...)
}

// capabilities is one Capabilities parameter.
func capabilities(each ...[]byte) []byte {
	all := join(each...)
	return append([]byte{2, byte(len(all))}, all...)
}

func capability(code byte, value ...byte) []byte {
	return append([]byte{code, byte(len(value))}, value...)
}
