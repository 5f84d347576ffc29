package health

import (
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is a TCP connection of a probe. The kernel is asked for it by hand: a probe lives for one exchange, and of
// what package net asks of the kernel for a connection and allocates for it, the half is of no use to it. What is
// written first waits until the connection stands.
type socket struct {
	*os.File
	to netip.AddrPort
}

// connect begins a connection. It does not wait for the other side.
func connect(to netip.AddrPort) (socket, error) {
	family, address, err := sockaddr(to)
	if err != nil {
		return socket{}, err
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return socket{}, os.NewSyscallError("socket", err)
	}
	// Of several writes the last must not wait for a delayed acknowledgement of the first.
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	// An interrupted call goes on by itself.
	if err := unix.Connect(fd, address); err != nil && err != unix.EINPROGRESS && err != unix.EINTR {
		unix.Close(fd)
		return socket{}, os.NewSyscallError("connect", err)
	}
	return socket{os.NewFile(uintptr(fd), "connection"), to}, nil
}

// sockaddr is an address as the kernel wants it.
func sockaddr(to netip.AddrPort) (family int, address unix.Sockaddr, err error) {
	a := to.Addr()
	switch {
	case !a.IsValid():
		return 0, nil, fault("no address")
	case a.Is4():
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(to.Port()), Addr: a.As4()}, nil
	case a.Zone() == "":
		return unix.AF_INET6, &unix.SockaddrInet6{Port: int(to.Port()), Addr: a.As16()}, nil
	}
	link, err := net.InterfaceByName(a.Zone())
	if err != nil {
		return 0, nil, err
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(to.Port()), ZoneId: uint32(link.Index), Addr: a.As16()}, nil
}

// established waits until the connection stands, which a write does by itself.
func (s socket) established() error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		if failed = pending(int(fd)); failed != nil {
			return true
		}
		_, unconnected := unix.Getpeername(int(fd))
		return unconnected == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// pending is the error that a connection has met with since it was last asked.
func pending(fd int) error {
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		return os.NewSyscallError("getsockopt", err)
	case n != 0:
		return os.NewSyscallError("connect", syscall.Errno(n))
	}
	return nil
}

// LocalAddr is not known: nothing that runs over the connection asks for it in earnest.
func (s socket) LocalAddr() net.Addr { return new(net.TCPAddr) }

// RemoteAddr is the endpoint's.
func (s socket) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(s.to) }
