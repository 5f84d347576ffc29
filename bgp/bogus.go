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

// Bogus tells whether nobody on the Internet has this address.
func Bogus(a netip.Addr) bool {
	return slices.ContainsFunc(bogus, func(p netip.Prefix) bool { return p.Contains(a) })
}
