package zone

import (
	"net/netip"

	"github.com/miekg/dns"
)

// discovery is the bit that stands before the type of a relay.
const discovery = 0x80

// relay reads a relay: "." for none, an address or a name.
func (d *formed) relay() fault {
	bit, f := d.next()
	if f.message != "" {
		return f
	}
	kind, f := d.next()
	if f.message != "" {
		return f
	}
	switch {
	case bit.text != "0" && bit.text != "1":
		return d.wrong(bit, "%s is not 0 or 1, as the discovery bit is (RFC 8777 section 4.3.2)")
	case len(kind.text) != 1 || kind.text[0] < '0' || kind.text[0] > '3':
		return d.wrong(kind, "%s is not a type of relay from 0 to 3 (RFC 8777 section 4.2.3)")
	}
	d.data = append(d.data, (bit.text[0]-'0')*discovery|kind.text[0]-'0')
	if kind.text == "3" {
		return d.domain()
	}
	w, f := d.next()
	if f.message != "" {
		return f
	}
	address, err := netip.ParseAddr(w.text)
	switch {
	case kind.text == "0" && w.text == ".":
	case kind.text == "1" && err == nil && address.Is4(), kind.text == "2" && err == nil && address.Is6() && address.Zone() == "":
		d.data = append(d.data, address.AsSlice()...)
	default:
		return d.wrong(w, "%s is not a relay of type "+kind.text)
	}
	return fault{}
}

// relayLength is how many octets a relay has, with its type before it.
func relayLength(data []byte) int {
	if len(data) == 0 {
		return -1
	}
	switch data[0] &^ discovery {
	case dns.AMTRELAYNone:
		return 1
	case dns.AMTRELAYIPv4:
		return 1 + 4
	case dns.AMTRELAYIPv6:
		return 1 + 16
	case dns.AMTRELAYHost:
		if _, n, err := nameFromWire(data[1:]); err == nil {
			return 1 + n
		}
	}
	return -1
}
