package screen

import (
	"encoding/binary"
	"net/netip"
	"time"
)

const (
	paramCapabilities = 2   // RFC 5492
	paramExtended     = 255 // RFC 9072: the optional parameters have lengths of two octets
)

// Open reads a whole OPEN message and makes the checks of RFC 4271 section 6.2 that end a session
// whatever the peer is configured to be. Capabilities that the screen does not know are passed over.
func Open(message []byte) (Offer, *Notification) {
	if len(message) < openLength {
		return Offer{}, &Notification{Code: codeHeader, Subcode: headerBadLength}
	}
	body := message[HeaderLength:]
	if body[0] != 4 {
		return Offer{}, refuse(openVersion, 0, 4)
	}
	o := Offer{
		ASN:        uint32(binary.BigEndian.Uint16(body[1:])),
		HoldTime:   time.Duration(binary.BigEndian.Uint16(body[3:])) * time.Second,
		Identifier: netip.AddrFrom4([4]byte(body[5:9])),
	}
	if o.ASN == 0 { // RFC 7607 section 2
		return Offer{}, refuse(openPeerAS)
	}
	if o.HoldTime == time.Second || o.HoldTime == 2*time.Second {
		return Offer{}, refuse(openHoldTime)
	}
	if o.Identifier.IsUnspecified() { // RFC 6286 section 2.2
		return Offer{}, refuse(openIdentifier)
	}
	if n := o.readParameters(body[9:]); n != nil {
		return Offer{}, n
	}
	if o.ASN == 0 {
		return Offer{}, refuse(openPeerAS)
	}
	return o, nil
}

func refuse(subcode uint8, data ...byte) *Notification {
	return &Notification{Code: codeOpen, Subcode: subcode, Data: data}
}

// readParameters reads the optional parameters, from their length field to the end of the message.
// Only Capabilities are recognized; RFC 4271 section 6.2 demands to end the session at any other.
func (o *Offer) readParameters(b []byte) *Notification {
	rest, width, ok := parameters(b)
	named := false
	for ok && len(rest) > 0 {
		kind := rest[0]
		var value []byte
		if value, rest, ok = field(rest[1:], width); !ok {
			break
		}
		if kind != paramCapabilities {
			return refuse(openParameter)
		}
		if !o.readCapabilities(value, &named) {
			return refuse(openUnspecific)
		}
	}
	if !ok {
		return refuse(openUnspecific)
	}
	if !named {
		o.IPv4.Offered = true
	}
	return nil
}

// parameters finds the optional parameters and the width of their length fields: one octet, or two
// in the extended form of RFC 9072 section 2, which shows by its first type.
func parameters(b []byte) (rest []byte, width int, ok bool) {
	if len(b) < 2 || b[0] == 0 || b[1] != paramExtended {
		return b[1:], 1, len(b)-1 == int(b[0])
	}
	rest, after, ok := field(b[2:], 2)
	return rest, 2, ok && len(after) == 0
}

// field takes a value and the length before it, which is width octets wide.
func field(b []byte, width int) (value, rest []byte, ok bool) {
	if len(b) < width {
		return nil, nil, false
	}
	n := int(b[0])
	if width == 2 {
		n = int(binary.BigEndian.Uint16(b))
	}
	b = b[width:]
	if len(b) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// readCapabilities reads one Capabilities parameter; named becomes true at the first Multiprotocol
// capability, whatever its family. A capability that comes again counts as the last one says.
func (o *Offer) readCapabilities(b []byte, named *bool) bool {
	for len(b) > 0 {
		code := b[0]
		value, rest, ok := field(b[1:], 1)
		if !ok || !o.readCapability(code, value) {
			return false
		}
		*named = *named || code == capMultiprotocol
		b = rest
	}
	return true
}

func (o *Offer) readCapability(code byte, v []byte) bool {
	switch code {
	case capMultiprotocol:
		if len(v) != 4 {
			return false
		}
		if f, ok := familyOf(binary.BigEndian.Uint16(v), v[3]); ok {
			o.family(f).Offered = true
		}
	case capRouteRefresh:
		o.RouteRefresh = true
		return len(v) == 0
	case capExtendedNextHop:
		return o.readExtendedNextHop(v)
	case capGracefulRestart:
		return o.Restart.read(v)
	case capFourOctetAS:
		if len(v) != 4 {
			return false
		}
		o.FourOctetAS, o.ASN = true, binary.BigEndian.Uint32(v)
	case capAddPath:
		return o.readAddPath(v)
	}
	return true
}

// readExtendedNextHop looks for IPv4 unicast by IPv6 among the triples of RFC 8950 section 4.
func (o *Offer) readExtendedNextHop(v []byte) bool {
	for ; len(v) >= 6; v = v[6:] {
		if [6]byte(v) == [6]byte{0, byte(ipv4), 0, unicast, 0, byte(ipv6)} {
			o.ExtendedNextHop = true
		}
	}
	return len(v) == 0
}

// readAddPath reads the families of RFC 7911 section 4. A Send/Receive value out of its range makes
// the capability one that is not understood.
func (o *Offer) readAddPath(v []byte) bool {
	if len(v)%4 != 0 {
		return false
	}
	for e := v; len(e) > 0; e = e[4:] {
		if e[3] < 1 || e[3] > 3 {
			return true
		}
	}
	for ; len(v) > 0; v = v[4:] {
		if f, ok := familyOf(binary.BigEndian.Uint16(v), v[2]); ok {
			o.family(f).Receive, o.family(f).Send = v[3]&1 != 0, v[3]&2 != 0
		}
	}
	return true
}

// read reads the capability of RFC 4724 section 3, of which the last instance alone counts.
func (r *RestartOffer) read(v []byte) bool {
	if len(v)%4 != 2 {
		return false
	}
	head := binary.BigEndian.Uint16(v)
	*r = RestartOffer{
		Offered:      true,
		Restarted:    head&0x8000 != 0,
		Notification: head&0x4000 != 0,
		Time:         time.Duration(head&0x0fff) * time.Second,
	}
	for v = v[2:]; len(v) > 0; v = v[4:] {
		if f, ok := familyOf(binary.BigEndian.Uint16(v), v[2]); ok {
			*r.family(f) = RestartFamily{Offered: true, Kept: v[3]&0x80 != 0}
		}
	}
	return true
}
