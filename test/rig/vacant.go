package rig

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// ports numbers the ports that tests took. Two runs at a time begin at different ones.
var ports atomic.Uint32

// Vacant is a port that nobody listens on at any of the addresses, and that is nobody else's until the test ends: the kernel
// gives it to nobody who asks for any, nor for a connection of his own, and no other test takes it. Who listens on it has to
// set SO_REUSEADDR, as all servers do.
func Vacant(t testing.TB, addresses ...netip.Addr) uint16 {
	t.Helper()
	const first, count = 10_000, 20_000
	for range 100 {
		port := uint16(first + (ports.Add(1)+uint32(os.Getpid())*101)%count)
		if free(port, addresses) && reserve(t, port, addresses) {
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

// reserve holds a port of the addresses, unless somebody was quicker.
func reserve(t testing.TB, port uint16, addresses []netip.Addr) bool {
	t.Helper()
	for _, a := range addresses {
		if !Hold(t, netip.AddrPortFrom(a, port)) {
			return false // what is held until the test ends already does no harm
		}
	}
	return true
}

// Hold has nobody listen on a TCP port until the test ends, but who sets SO_REUSEADDR. It tells whether the port was to
// be had.
func Hold(t testing.TB, at netip.AddrPort) bool {
	t.Helper()
	socket, err := hold(at)
	if err == nil {
		t.Cleanup(func() { _ = unix.Close(socket) }) // it has nothing to lose
	}
	return err == nil
}

// hold binds a TCP socket that does not listen. It is bound as the only one; from then on it makes room for one that
// listens and asks for that by SO_REUSEADDR, but not for another that holds.
func hold(at netip.AddrPort) (socket int, err error) {
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if at.Addr().Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	socket, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(socket, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	if err == nil {
		err = unix.Bind(socket, to)
	}
	if err == nil {
		err = unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err != nil {
		_ = unix.Close(socket)
		return 0, err
	}
	return socket, nil
}

// Refusing is an address with a port that refuses connections and packets until the test ends: it is taken, and nobody
// listens there.
func Refusing(t testing.TB, address netip.Addr) netip.AddrPort {
	t.Helper()
	for range 100 {
		at, err := refusing(t, address)
		if err == nil {
			return at
		}
		t.Logf("no port that refuses: %v", err)
	}
	t.Fatalf("no port of %s can be made to refuse", address)
	return netip.AddrPort{}
}

func refusing(t testing.TB, address netip.Addr) (netip.AddrPort, error) {
	t.Helper()
	// A UDP socket that is connected takes packets of that peer alone; of others the kernel says that nobody is there.
	packets, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, 0)), net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, 9)))
	if err != nil {
		return netip.AddrPort{}, err
	}
	at := packets.LocalAddr().(*net.UDPAddr).AddrPort()
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	t.Cleanup(func() { packets.Close() })
	if !Hold(t, at) {
		return netip.AddrPort{}, fmt.Errorf("%s is taken for TCP", at)
	}
	return at, nil
}
