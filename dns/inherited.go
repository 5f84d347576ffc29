package dns

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// inherited is sockets that somebody opened for us, who may what we may not, or who keeps them while we are away. Each is
// used once, in place of one that is asked for by its address.
type inherited struct {
	streams, packets []handedOver
	told             bool // of those that were not asked for
}

// handedOver is a socket, with what it is bound to.
type handedOver struct {
	file *os.File
	at   netip.AddrPort
}

// Inherit makes doors that are opened from now on use these sockets, where they are bound to the addresses that the
// doors ask for. It is called before anything is listened on. The files belong to the server from then on.
func (s *Server) Inherit(files []*os.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range files {
		at, kind, err := bound(f)
		if err != nil {
			return fmt.Errorf("socket %s: %w", f.Name(), err)
		}
		h := handedOver{f, at}
		if kind == unix.SOCK_STREAM {
			s.inherited.streams = append(s.inherited.streams, h)
		} else {
			s.inherited.packets = append(s.inherited.packets, h)
		}
	}
	return nil
}

// bound tells what a socket is bound to, and whether it is for streams or packets.
func bound(f *os.File) (at netip.AddrPort, kind int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return at, 0, err
	}
	var name unix.Sockaddr
	var listens int
	controlErr := raw.Control(func(fd uintptr) {
		if kind, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
			return
		}
		if listens, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil {
			return
		}
		name, err = unix.Getsockname(int(fd))
	})
	if controlErr != nil {
		return at, 0, controlErr
	}
	if err != nil {
		return at, 0, err
	}
	switch a := name.(type) {
	case *unix.SockaddrInet4:
		at = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		at = netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	default:
		return at, 0, fmt.Errorf("is of no family of the Internet")
	}
	if kind == unix.SOCK_STREAM && listens == 0 || kind != unix.SOCK_STREAM && kind != unix.SOCK_DGRAM {
		return at, 0, fmt.Errorf("is neither a UDP socket nor a TCP socket that listens")
	}
	return at, kind, nil
}

// leftOver gives the addresses of the sockets that were not asked for, once.
func (i *inherited) leftOver() []netip.AddrPort {
	var all []netip.AddrPort
	if i.told {
		return nil
	}
	i.told = true
	for _, h := range append(slices.Clone(i.streams), i.packets...) {
		all = append(all, h.at)
	}
	return all
}

// take takes the sockets of an address out of a list.
func take(from *[]handedOver, a netip.AddrPort) (files []*os.File) {
	*from = slices.DeleteFunc(*from, func(h handedOver) bool {
		if h.at != a {
			return false
		}
		files = append(files, h.file)
		return true
	})
	return files
}

// listener gives a TCP socket: the inherited one, or one of our own.
func (i *inherited) listener(ctx context.Context, a netip.AddrPort) (net.Listener, error) {
	files := take(&i.streams, a)
	if len(files) == 0 {
		return bindTCP(ctx, a)
	}
	defer closeAll(files)
	return net.FileListener(files[0])
}

// socket gives one UDP socket: the inherited one, or one of our own.
func (i *inherited) socket(ctx context.Context, a netip.AddrPort) (*net.UDPConn, error) {
	files := take(&i.packets, a)
	if len(files) == 0 {
		return bindQUIC(ctx, a)
	}
	defer closeAll(files)
	conn, err := net.FilePacketConn(files[0])
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// plain gives the sockets of a door for UDP and TCP.
func (i *inherited) plain(ctx context.Context, a netip.AddrPort, workers int) ([]*net.UDPConn, net.Listener, error) {
	files := take(&i.packets, a)
	defer closeAll(files)
	if len(files) == 0 && !slices.ContainsFunc(i.streams, func(h handedOver) bool { return h.at == a }) {
		return bind(ctx, a, workers)
	}
	listener, err := i.listener(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	var packets []*net.UDPConn
	if len(files) == 0 {
		packets, err = bindUDP(ctx, a, workers)
	} else {
		packets, err = share(files, a, workers)
	}
	if err != nil {
		_ = listener.Close()
		return nil, nil, err
	}
	return packets, listener, nil
}

// share gives each worker a handle of a socket. Where there are fewer than workers, several read from one.
func share(files []*os.File, a netip.AddrPort, workers int) (packets []*net.UDPConn, err error) {
	for n := range max(len(files), workers) {
		conn, err := net.FilePacketConn(files[n%len(files)])
		if err == nil {
			packets = append(packets, conn.(*net.UDPConn))
			err = adopt(conn.(*net.UDPConn), a)
		}
		if err != nil {
			for _, open := range packets {
				_ = open.Close()
			}
			return nil, err
		}
	}
	return packets, nil
}

// adopt sets what [prepare] sets before a socket is bound, as far as it is not too late.
func adopt(conn *net.UDPConn, a netip.AddrPort) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	controlErr := raw.Control(func(fd uintptr) { err = settle(int(fd), a) })
	if controlErr != nil {
		return controlErr
	}
	return err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // what is used has a handle of its own
	}
}
