//go:build linux && (amd64 || arm64)

package dns

import (
	"cmp"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inbox is a UDP socket whose packets one goroutine waits for.
//
// The runtime's poller would be told not only of packets, but also each time that the socket can send again, which is
// after each answer: that took a twentieth of what an answer costs. So an own epoll instance has the socket, and
// is asked for packets only; and the runtime polls that instance. While packets come in batches nobody waits for them,
// and it does not have the socket either.
type inbox struct {
	socket int // its descriptor, of which the runtime's poller does not know
	epoll  int
	events uint32 // that the instance has the socket for; 0: it does not have it
	pieces bool   // fragments may leave it

	poll *os.File // the instance
	raw  syscall.RawConn
}

// newInbox takes the socket of a connection, which it closes. On an error it has done nothing.
func newInbox(conn *net.UDPConn) (*inbox, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	socket := -1
	var failed error
	err = raw.Control(func(fd uintptr) {
		if failed = callsForMany(int(fd)); failed == nil {
			socket, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
		}
	})
	if err != nil || failed != nil {
		return nil, cmp.Or(err, failed)
	}
	in := &inbox{socket: socket}
	if err := in.open(); err != nil {
		_ = unix.Close(socket)
		return nil, err
	}
	_ = conn.Close() // the socket is open as long as ours is
	_ = seePath(socket, unix.IP_PMTUDISC_PROBE)
	_ = waitsAtMost(socket, patience) // else it never waits: a call that would says that there is nothing
	return in, nil
}

// waitsAtMost has calls that may wait do so, and no longer than that.
func waitsAtMost(socket int, most time.Duration) error {
	limit := unix.NsecToTimeval(int64(most))
	if err := unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return err
	}
	return unix.SetNonblock(socket, false)
}

// fragment lets packets leave in fragments that the link is too narrow for, from now on. It gives false if they may
// already.
//
// Before, they leave in one piece or not at all, as RFC 9715 section 3.1 wants it. Such packets need no number to put
// fragments together by, and to make one takes the kernel a thirtieth of the time of an answer.
func (in *inbox) fragment() bool {
	if in.pieces {
		return false
	}
	in.pieces = true
	return seePath(in.socket, unix.IP_PMTUDISC_OMIT) == nil
}

// callsForMany is an error where there are no calls for many packets at once, as in some sandboxes.
func callsForMany(socket int) error {
	for _, call := range [...]uintptr{unix.SYS_RECVMMSG, unix.SYS_SENDMMSG} {
		if _, errno := mmsg(call, socket, nil, 0, unix.MSG_DONTWAIT); errno == unix.ENOSYS || errno == unix.EPERM {
			return errno
		}
	}
	return nil
}

// open makes the epoll instance.
func (in *inbox) open() (err error) {
	if in.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	_ = unix.SetNonblock(in.epoll, true) // by which the runtime knows that it can be polled
	in.poll = os.NewFile(uintptr(in.epoll), "epoll")
	if err = in.poll.SetDeadline(time.Time{}); err == nil { // it is polled
		in.raw, err = in.poll.SyscallConn()
	}
	if err != nil {
		_ = in.poll.Close()
	}
	return err
}

// await calls try until that gives true, and between waits for the events, EPOLLIN or EPOLLOUT. It gives an error when
// it cannot wait, or is woken.
func (in *inbox) await(events uint32, try func() bool) error {
	var failed error
	err := in.raw.Read(func(uintptr) bool {
		if try() {
			return true
		}
		failed = in.watch(events)
		return failed != nil
	})
	return cmp.Or(failed, err)
}

// watch has the instance tell of these events; of those that are there already, too.
func (in *inbox) watch(events uint32) error {
	if in.events == events {
		return nil
	}
	call := unix.EPOLL_CTL_MOD
	if in.events == 0 {
		call = unix.EPOLL_CTL_ADD
	}
	if err := unix.EpollCtl(in.epoll, call, in.socket, &unix.EpollEvent{Events: events}); err != nil {
		return err
	}
	in.events = events
	return nil
}

// ignore has the instance tell of nothing.
func (in *inbox) ignore() {
	if in.events != 0 && unix.EpollCtl(in.epoll, unix.EPOLL_CTL_DEL, in.socket, nil) == nil {
		in.events = 0
	}
}

// wake ends the waiting, for good.
func (in *inbox) wake() { _ = in.poll.Close() }

// close closes the socket.
func (in *inbox) close() {
	in.wake()
	_ = unix.Close(in.socket)
}
