package rig

import (
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
)

// ports numbers the ports that tests took. Two runs at a time begin at different ones.
var ports atomic.Uint32

// Vacant is a port that nobody listens on at any of the addresses, and that the kernel gives to nobody who asks for any.
func Vacant(t testing.TB, addresses ...netip.Addr) uint16 {
	t.Helper()
	const first, count = 10_000, 20_000
	for range 100 {
		port := uint16(first + (ports.Add(1)+uint32(os.Getpid())*101)%count)
		if free(port, addresses) {
			return port
		}
	}
	t.Fatalf("no port of %s is vacant", addresses)
	return 0
}

func free(port uint16, addresses []netip.Addr) bool {
	for _, a := range addresses {
		at := netip.AddrPortFrom(a, port).String()
		stream, err := net.Listen("tcp", at)
		if err != nil {
			return false
		}
		packets, err := net.ListenPacket("udp", at)
		stream.Close()
		if err != nil {
			return false
		}
		packets.Close()
	}
	return true
}
