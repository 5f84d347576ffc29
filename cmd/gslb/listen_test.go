package main

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultAddressesAreThoseThatTheMachineHas(t *testing.T) {
	four, six := netip.MustParseAddrPort("127.0.0.1:5353"), netip.MustParseAddrPort("[::1]:5353")
	both := []netip.AddrPort{four, six}
	for _, c := range []struct {
		name         string
		has          func(netip.Addr) bool
		had, lacking []netip.AddrPort
	}{
		{"both", func(netip.Addr) bool { return true }, both, nil},
		{"IPv4 alone", netip.Addr.Is4, both[:1], both[1:]},
		{"none", func(netip.Addr) bool { return false }, both, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			had, lacking := parted(both, c.has)
			if diff := cmp.Diff([2][]netip.AddrPort{c.had, c.lacking}, [2][]netip.AddrPort{had, lacking}, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
		})
	}
	if !machineHas(four.Addr()) || machineHas(netip.MustParseAddr("192.0.2.1")) {
		t.Error("a machine has 127.0.0.1, and no address for documentation")
	}
}
