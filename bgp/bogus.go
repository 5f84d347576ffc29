package bgp

import (
	"net/netip"
	"slices"
)

// bogus is the networks that nobody on the Internet is in. Documentation networks are not among
// them: they are ordinary.
var bogus = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("224.0.0.0/3"),
	netip.MustParsePrefix("::/128"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"),
	netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8"),
}

// bogusByOctet is the same by family and first octet: every query asks, and most addresses have none to be compared with.
var bogusByOctet = func() (by [2][256][]netip.Prefix) {
	for _, p := range bogus {
		family, octet := octetOf(p.Addr())
		for last := octet | 0xff>>min(p.Bits(), 8); octet <= last; octet++ {
			by[family][octet] = append(by[family][octet], p)
		}
	}
	return by
}()

// octetOf gives the family of an address, 1 for IPv6, and its first octet.
func octetOf(a netip.Addr) (family, octet int) {
	if a.Is4() {
		return 0, int(a.As4()[0])
	}
	return 1, int(a.As16()[0])
}

// Bogus tells whether nobody on the Internet has this address.
func Bogus(a netip.Addr) bool {
	family, octet := octetOf(a)
	return slices.ContainsFunc(bogusByOctet[family][octet], func(p netip.Prefix) bool { return p.Contains(a) })
}
