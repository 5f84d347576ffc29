package screen_test

import (
	"fmt"
	"net/netip"
	"time"

	"gslb/bgp/screen"
)

// A peer opens a session and then sends an UPDATE whose ORIGIN means nothing. The session goes on;
// the route is withdrawn.
func Example() {
	offer := func(asn uint32) screen.Offer {
		return screen.Offer{
			ASN: asn, Identifier: netip.MustParseAddr("192.0.2.1"), HoldTime: 90 * time.Second,
			IPv4: screen.FamilyOffer{Offered: true}, FourOctetAS: true,
		}
	}
	header := "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	s := screen.Expect(offer(64512))
	for _, message := range []string{
		string(offer(64501).Message()),
		header + "\x00\x13\x04",
		header + "\x00\x2f\x02" + "\x00\x00" + "\x00\x14" +
			"\x40\x01\x01\x07" + "\x40\x02\x06\x02\x01\x00\x00\xfb\xf5" + "\x40\x03\x04\xc0\x00\x02\x01" +
			"\x18\xcb\x00\x71",
	} {
		var v screen.Verdict
		v, s = s.Screen([]byte(message))
		fmt.Printf("forward %d octets, withdrawn %d, reason %q\n", len(v.Forward), v.Withdrawn, v.Reason)
	}
	// Output:
	// forward 43 octets, withdrawn 0, reason ""
	// forward 19 octets, withdrawn 0, reason ""
	// forward 27 octets, withdrawn 1, reason "origin"
}
