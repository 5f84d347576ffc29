package screen

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// asTrans stands for an AS number that does not fit in two octets (RFC 6793).
const asTrans = 23456

// The capabilities that the screen lets through (RFC 5492 and the IANA registry).
const (
	capMultiprotocol   = 1
	capRouteRefresh    = 2
	capExtendedNextHop = 5
	capGracefulRestart = 64
	capFourOctetAS     = 65
	capAddPath         = 69
)

// Offer is what one OPEN says of its sender, as far as the screen knows it. It is comparable.
type Offer struct {
	ASN        uint32
	Identifier netip.Addr // an IPv4 address
	HoldTime   time.Duration
	IPv4, IPv6 FamilyOffer

	FourOctetAS     bool // RFC 6793
	RouteRefresh    bool // RFC 2918
	ExtendedNextHop bool // RFC 8950: IPv4 unicast routes may have an IPv6 next hop
	Restart         RestartOffer
}

// FamilyOffer is what an OPEN says of one address family (unicast).
type FamilyOffer struct {
	Offered       bool // RFC 4760; IPv4 is offered by an OPEN that names no family at all
	Receive, Send bool // several paths for a prefix (RFC 7911)
}

// RestartOffer is the Graceful Restart capability (RFC 4724 section 3, RFC 8538 section 2).
type RestartOffer struct {
	Offered      bool
	Restarted    bool          // the R bit
	Notification bool          // the N bit
	Time         time.Duration // whole seconds, below 4096
	IPv4, IPv6   RestartFamily
}

// RestartFamily is what the Graceful Restart capability says of one address family.
type RestartFamily struct {
	Offered bool
	Kept    bool // the F bit: forwarding went on while its sender restarted
}

// Message writes the offer as an OPEN: version 4, the capabilities in ascending order of their
// codes, and nothing else.
func (o Offer) Message() []byte {
	caps := o.capabilities()
	length := openLength
	if len(caps) > 0 {
		length += 2 + len(caps)
	}
	asn := uint16(asTrans)
	if o.ASN <= 0xffff {
		asn = uint16(o.ASN)
	}
	id := [4]byte{}
	if o.Identifier.Is4() {
		id = o.Identifier.As4()
	}
	b := appendHeader(make([]byte, 0, length), length, typeOpen)
	b = append(b, 4)
	b = binary.BigEndian.AppendUint16(b, asn)
	b = binary.BigEndian.AppendUint16(b, uint16(o.HoldTime/time.Second))
	b = append(append(b, id[:]...), byte(length-openLength))
	if len(caps) == 0 {
		return b
	}
	return append(append(b, paramCapabilities, byte(len(caps))), caps...)
}

func (o Offer) capabilities() []byte {
	b := o.families(nil)
	if o.RouteRefresh {
		b = append(b, capRouteRefresh, 0)
	}
	if o.ExtendedNextHop {
		b = append(b, capExtendedNextHop, 6, 0, byte(ipv4), 0, unicast, 0, byte(ipv6))
	}
	if o.Restart.Offered {
		b = o.Restart.append(b)
	}
	if o.FourOctetAS {
		b = binary.BigEndian.AppendUint32(append(b, capFourOctetAS, 4), o.ASN)
	}
	paths := []byte{}
	for _, f := range []family{ipv4, ipv6} {
		if offer := o.family(f); offer.Receive || offer.Send {
			paths = append(paths, 0, byte(f), unicast, bit(offer.Receive, 1)|bit(offer.Send, 2))
		}
	}
	if len(paths) > 0 {
		b = append(append(b, capAddPath, byte(len(paths))), paths...)
	}
	return b
}

// families writes the Multiprotocol capabilities alone.
func (o Offer) families(b []byte) []byte {
	for _, f := range []family{ipv4, ipv6} {
		if o.family(f).Offered {
			b = append(b, capMultiprotocol, 4, 0, byte(f), 0, unicast)
		}
	}
	return b
}

func (o *Offer) family(f family) *FamilyOffer {
	if f == ipv4 {
		return &o.IPv4
	}
	return &o.IPv6
}

func (r RestartOffer) append(b []byte) []byte {
	head := uint16(r.Time/time.Second)&0x0fff | uint16(bit(r.Restarted, 0x80)|bit(r.Notification, 0x40))<<8
	families := []byte{}
	for _, f := range []family{ipv4, ipv6} {
		if kept := r.family(f); kept.Offered {
			families = append(families, 0, byte(f), unicast, bit(kept.Kept, 0x80))
		}
	}
	b = append(b, capGracefulRestart, byte(2+len(families)))
	return append(binary.BigEndian.AppendUint16(b, head), families...)
}

func (r *RestartOffer) family(f family) *RestartFamily {
	if f == ipv4 {
		return &r.IPv4
	}
	return &r.IPv6
}

func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}
