package bgp

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxTTL is the TTL of packets that GTSM lets through from a direct neighbour (RFC 5082 section 3).
const maxTTL = 255

// control sets options of one socket before it connects or listens.
type control func(fd int) error

// controlled makes a Control function, as net.Dialer and net.ListenConfig take it, of options.
func controlled(options ...control) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error { return setOptions(c, options...) }
}

// setOptions sets the options of a socket, up to the first that fails.
func setOptions(c syscall.RawConn, options ...control) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		for _, set := range options {
			if failed = set(int(fd)); failed != nil {
				return
			}
		}
	})
	return errors.Join(err, failed)
}

// farthestTTL sends packets with the highest TTL, which a peer's GTSM asks for and every other
// peer takes as well.
func farthestTTL(ipv6 bool) control {
	return func(fd int) error {
		if ipv6 {
			return named("TTL", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, maxTTL))
		}
		return named("TTL", unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, maxTTL))
	}
}

// nearbyOnly makes the kernel drop packets that passed as many routers as hops or more (RFC 5082). With
// 0 hops it lets everything through.
func nearbyOnly(ipv6 bool, hops int) control {
	return func(fd int) error {
		if hops <= 0 {
			return nil
		}
		least := max(maxTTL+1-hops, 1)
		if ipv6 {
			return named("TTL security", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MINHOPCOUNT, least))
		}
		return named("TTL security", unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MINTTL, least))
	}
}

// signed makes the kernel sign every segment to the peer and drop those from it that are not signed
// with the same key (RFC 2385). The empty password ends that for connections to come.
func signed(peer netip.Addr, password string) control {
	return func(fd int) error {
		sig := unix.TCPMD5Sig{Keylen: uint16(len(password))}
		copy(sig.Key[:], password)
		sig.Addr.Family = unix.AF_INET
		if peer.Is4() {
			four := peer.As4()
			copy(sig.Addr.Data[2:], four[:]) // sockaddr_in: port, address
		} else {
			sig.Addr.Family = unix.AF_INET6
			sixteen := peer.As16()
			copy(sig.Addr.Data[6:], sixteen[:]) // sockaddr_in6: port, flow label, address
		}
		err := unix.SetsockoptTCPMD5Sig(fd, unix.IPPROTO_TCP, unix.TCP_MD5SIG, &sig)
		if password == "" && errors.Is(err, unix.ENOENT) {
			return nil
		}
		return named("TCP MD5", err)
	}
}

// named says which option an error is about.
func named(option string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	return nil
}
