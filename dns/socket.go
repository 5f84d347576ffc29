package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// receiveBuffer is what is asked of the kernel for each UDP socket: the default holds only some
// 277 small packets, and a burst of more is lost.
const receiveBuffer = 4 << 20

// A port that is taken is tried so often, with a rest between: a child process that is just being started, of
// whatever program, holds what its parent has open for a moment longer. Where port 0 is asked for
// another is tried instead.
const (
	bindTries = 16
	bindRest  = 50 * time.Millisecond
)

// bind opens some UDP sockets, and the TCP socket, on one address and port.
func bind(ctx context.Context, a netip.AddrPort, workers int) (packets []*net.UDPConn, listener net.Listener, err error) {
	for range bindTries {
		packets, listener, err = bindOnce(ctx, a, workers)
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
		if a.Port() != 0 {
			select {
			case <-ctx.Done():
				return nil, nil, err
			case <-time.After(bindRest):
			}
		}
	}
	return packets, listener, err
}

func bindOnce(ctx context.Context, a netip.AddrPort, workers int) ([]*net.UDPConn, net.Listener, error) {
	listener, err := bindTCP(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	port := uint16(listener.Addr().(*net.TCPAddr).Port)
	packets, err := bindUDP(ctx, netip.AddrPortFrom(a.Addr(), port), workers)
	if err != nil {
		_ = listener.Close()
		return nil, nil, err
	}
	return packets, listener, nil
}

// bindTCP opens a TCP socket.
func bindTCP(ctx context.Context, a netip.AddrPort) (net.Listener, error) {
	network := "tcp4"
	if a.Addr().Is6() {
		network = "tcp6" // which also keeps IPv4 out of an IPv6 socket
	}
	var plain net.ListenConfig
	return plain.Listen(ctx, network, a.String())
}

// bindQUIC opens a UDP socket that is shared with nobody: each packet of a connection must come to whom has it.
func bindQUIC(ctx context.Context, a netip.AddrPort) (*net.UDPConn, error) {
	network := "udp4"
	if a.Addr().Is6() {
		network = "udp6"
	}
	var plain net.ListenConfig
	conn, err := plain.ListenPacket(ctx, network, a.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// bindUDP opens a socket for each worker. Sockets that share a port would also share it with
// another server of the same user, and each get a part of its questions; so it looks first whether
// anybody is there.
func bindUDP(ctx context.Context, a netip.AddrPort, workers int) ([]*net.UDPConn, error) {
	network := "udp4"
	if a.Addr().Is6() {
		network = "udp6"
	}
	if err := vacant(ctx, network, a); err != nil {
		return nil, err
	}
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return prepare(c, a) }}
	var packets []*net.UDPConn
	for range workers {
		conn, err := shared.ListenPacket(ctx, network, a.String())
		if err != nil {
			for _, open := range packets {
				_ = open.Close()
			}
			return nil, err
		}
		packets = append(packets, conn.(*net.UDPConn))
	}
	return packets, nil
}

// vacant is an error when anybody has the UDP port.
func vacant(ctx context.Context, network string, a netip.AddrPort) error {
	var plain net.ListenConfig
	alone, err := plain.ListenPacket(ctx, network, a.String())
	if err != nil {
		return err
	}
	return alone.Close()
}

// receiveBuffers gives the octets of the smallest receive buffer of some sockets, as the kernel counts them; 0 where it does
// not tell.
func receiveBuffers(sockets []*net.UDPConn) int {
	least := 0
	for _, socket := range sockets {
		raw, err := socket.SyscallConn()
		if err != nil {
			continue
		}
		_ = raw.Control(func(fd uintptr) { // an error leaves it as it is
			if n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF); err == nil && (least == 0 || n < least) {
				least = n
			}
		})
	}
	return least
}

// prepare sets what a UDP socket needs before it is bound: a port that is shared among the workers, and the rest.
func prepare(c syscall.RawConn, a netip.AddrPort) error {
	var err error
	control := func(fd uintptr) {
		if err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			err = fmt.Errorf("share the port: %w", err)
			return
		}
		err = settle(int(fd), a)
	}
	if controlErr := c.Control(control); controlErr != nil {
		return controlErr
	}
	return err
}

// seePath has a socket see the paths of its packets in one of the ways of IP_MTU_DISCOVER, which are numbered alike for
// both families.
func seePath(fd, way int) error {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	if domain == unix.AF_INET {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, way)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, way)
}

// settle sets what can also be set later: a long queue, no belief in what ICMP says of the path's MTU, and, on a
// wildcard address, to be told where a packet was sent to.
//
// Answers are short enough for every path (maxUDPAnswer). Were that belief there, whoever forges ICMP could have them sent in
// fragments, of which he then forges the second (RFC 9715).
func settle(fd int, a netip.AddrPort) error {
	_ = seePath(fd, unix.IP_PMTUDISC_OMIT)
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer) // as much as we may have
	}
	switch {
	case !a.Addr().IsUnspecified():
		return nil
	case a.Addr().Is4():
		return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
}
