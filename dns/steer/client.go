package steer

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"gslb/bgp"
)

// Family is the kind of address that a question asks for.
type Family uint8

const (
	// IPv4 is what a question of type A asks for.
	IPv4 Family = iota
	// IPv6 is what a question of type AAAA asks for.
	IPv6

	anyFamily // either, where it only matters that there is one
)

// Subnet is the client subnet that a query carries (RFC 7871): Prefix is its address cut to the
// source prefix length. The zero value means that the query carries none.
type Subnet struct{ Prefix netip.Prefix }

// Given tells whether the query carries a client subnet at all.
func (s Subnet) Given() bool { return s.Prefix.IsValid() }

// Client is whom a decision is made for.
type Client struct {
	Address netip.Addr // what steers; never an IPv4 address in IPv6 clothes
	Source  netip.Addr // where the packet came from
	Subnet  Subnet     // as the query carried it
	ByECS   bool       // Address came from Subnet
	embed   int        // bits before the IPv4 address inside the subnet's IPv6 address
}

// Client settles whom a query is answered for: the client subnet, if it has one of at least one
// bit that is not bogus, else the source of the packet.
func (p *Policy) Client(source netip.Addr, subnet Subnet) Client {
	c := Client{Source: source, Address: source, Subnet: subnet}
	if !source.Is4() {
		c.Source = source.Unmap().WithZone("")
		c.Address, _ = embedded(c.Source)
	}
	if !subnet.Given() || subnet.Prefix.Bits() == 0 {
		return c
	}
	address, embed := embedded(subnet.Prefix.Addr())
	if embed > 0 && subnet.Prefix.Bits() <= embed {
		address, embed = subnet.Prefix.Addr(), 0
	}
	if bgp.Bogus(address) && !p.names(address) {
		return c
	}
	c.Address, c.ByECS, c.embed = address, true, embed
	return c
}

// Network is a number for the client's network, of the length that a hash keeps together: a /24 or a /56. Neighbours have
// numbers that are alike in nothing.
func (c *Client) Network() uint64 { return mix(networkSeed(c.Address)) }

// names tells whether an address lies in a network that the configuration names.
func (p *Policy) names(a netip.Addr) bool {
	n, _ := p.named.Lookup(a)
	return n == 1
}

// Scope turns the span of a decision into the scope prefix length of the answer (RFC 7871 section
// 7.2.1), in the bits of the family that the query used; 0 when it carried no subnet.
func (c Client) Scope(span int) int {
	switch {
	case span == 0 || !c.Subnet.Given() || c.Subnet.Prefix.Bits() == 0:
		return 0
	case !c.ByECS:
		return c.Subnet.Prefix.Bits()
	}
	return c.embed + span
}

// embedded gives the IPv4 address that an IPv6 address carries, and the number of bits before it;
// any other address as it is, and 0. Read are the IPv4-mapped form (RFC 4291), the translated form
// (RFC 2765), the NAT64 well-known prefix (RFC 6052), 6to4 (RFC 3056) and Teredo, where the
// client's address stands inverted (RFC 4380), and the IPv4-compatible form (RFC 4291).
func embedded(a netip.Addr) (netip.Addr, int) {
	if a.Is4() {
		return a, 0
	}
	b := a.As16()
	mid, low := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	switch head := binary.BigEndian.Uint64(b[:8]); {
	case head == 0 && (mid == 0 || mid == 0x0000ffff || mid == 0xffff0000), head == 0x0064ff9b_00000000 && mid == 0:
		return ipv4(low), 96
	case b[0] == 0x20 && b[1] == 0x02:
		return ipv4(binary.BigEndian.Uint32(b[2:])), 16
	case head>>32 == 0x20010000:
		return ipv4(^low), 96
	}
	return a, 0
}

func ipv4(bits uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], bits)
	return netip.AddrFrom4(b)
}

// clothed is the blocks of IPv6 in which [embedded] finds an IPv4 address: where they begin, and their lengths.
var clothed = [...]struct {
	high, low uint64
	bits      int
}{
	{0, 0, 96},                   // ::/96
	{0, 0xffff << 32, 96},        // ::ffff:0:0/96
	{0, 0xffff << 48, 96},        // ::ffff:0:0:0/96
	{0x0064ff9b_00000000, 0, 96}, // 64:ff9b::/96
	{0x2002 << 48, 0, 16},        // 2002::/16
	{0x2001_0000 << 32, 0, 32},   // 2001::/32
}

// apart gives the bits of the widest block around an IPv6 address that has none of these blocks in
// it; for an address inside one, the bits of that one.
func apart(a netip.Addr) int {
	n, x := 0, a.As16()
	high, low := binary.BigEndian.Uint64(x[:8]), binary.BigEndian.Uint64(x[8:])
	for i := range clothed {
		c := &clothed[i]
		common := bits.LeadingZeros64(high ^ c.high) // leading bits that both have
		if high == c.high {
			common = 64 + bits.LeadingZeros64(low^c.low)
		}
		n = max(n, min(common+1, c.bits))
	}
	return n
}
