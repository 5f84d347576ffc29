package main

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	burst      = 64   // packets of one system call, and the most that a socket has under way
	packetSize = 1536 // octets
)

// message is the kernel's struct mmsghdr.
type message struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

// socket is one client: a connected socket that never waits, with its own buffers.
type socket struct {
	fd        int
	out, in   [burst]message
	outAt     [burst]unix.Iovec
	inAt      [burst]unix.Iovec
	queries   [burst][packetSize]byte
	replies   [burst][packetSize]byte
	id        uint16
	underWay  int
	sentAt    [1 << 16]int64 // by query ID, in nanoseconds of the window; 0: not under way
	lastReply int64
}

// openSocket makes the socket of client number n, which has an address of its own: 127.n.0.1.
func openSocket(n int, server netip.AddrPort) (*socket, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a socket: %w", err)
	}
	s := &socket{fd: fd}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20) // as much as we may have
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 4<<20)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, byte(n), 0, 1}}); err != nil {
		s.close()
		return nil, fmt.Errorf("be client %d: %w", n, err)
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: server.Addr().As4(), Port: int(server.Port())}); err != nil {
		s.close()
		return nil, fmt.Errorf("connect to %s: %w", server, err)
	}
	for i := range burst {
		s.outAt[i].Base, s.inAt[i].Base = &s.queries[i][0], &s.replies[i][0]
		s.inAt[i].SetLen(packetSize)
		s.out[i].header.Iov, s.out[i].header.Iovlen = &s.outAt[i], 1
		s.in[i].header.Iov, s.in[i].header.Iovlen = &s.inAt[i], 1
	}
	return s, nil
}

func (s *socket) close() { _ = unix.Close(s.fd) }

// send sends the first n queries and gives how many went.
func (s *socket) send(n int) (sent int) {
	for sent < n {
		r, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.out[sent])), uintptr(n-sent), 0, 0, 0)
		if errno != 0 {
			break
		}
		sent += int(r)
	}
	return sent
}

// receive takes the replies that have come.
func (s *socket) receive() int {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.in[0])), burst, unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}
