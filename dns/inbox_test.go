//go:build linux && (amd64 || arm64)

package dns

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An inbox that ignored its socket tells of what came meanwhile, and of what comes then.
func TestInboxTellsOfWhatCameWhileItWasNotWatching(t *testing.T) {
	in, client := inboxAndClient(t)
	packet := make([]byte, 16)
	tries := 0
	receive := func() bool {
		_, _, err := unix.Recvfrom(in.socket, packet, unix.MSG_DONTWAIT)
		if tries++; tries == 1 { // in vain: what comes later is waited for
			time.AfterFunc(20*time.Millisecond, func() { _, _ = client.Write([]byte("?")) })
		}
		return err == nil
	}
	for _, ignored := range []bool{false, true, true, false} {
		if ignored {
			in.ignore()
		}
		tries = 0
		if err := in.await(unix.EPOLLIN, receive); err != nil || tries < 2 {
			t.Errorf("ignored: %v: after %d tries: %v", ignored, tries, err)
		}
	}
}

// Who can send no more waits for room, and for nothing else: not for packets that are there.
func TestInboxWaitsForRoom(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	in := &inbox{socket: pair[0]}
	if err := in.open(); err != nil {
		t.Fatal(err)
	}
	defer in.close()
	defer unix.Close(pair[1])
	if _, err := unix.Write(pair[1], []byte("a packet that is there")); err != nil {
		t.Fatal(err)
	}
	send := func() bool {
		_, err := unix.Write(pair[0], make([]byte, 100))
		return !errors.Is(err, unix.EAGAIN)
	}
	for send() {
	}
	tries := 0
	again := func() bool {
		sent := send()
		if tries++; tries == 1 { // in vain: room that is made later is waited for
			time.AfterFunc(20*time.Millisecond, func() {
				for n := 1; n > 0; {
					n, _ = unix.Read(pair[1], make([]byte, 100))
				}
			})
		}
		return sent
	}
	if err := in.await(unix.EPOLLOUT, again); err != nil || tries < 2 || tries > 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

// To wake an inbox ends the waiting, and later waiting at once.
func TestInboxIsWoken(t *testing.T) {
	in, _ := inboxAndClient(t)
	time.AfterFunc(20*time.Millisecond, in.wake)
	for range 2 {
		if err := in.await(unix.EPOLLIN, func() bool { return false }); err == nil {
			t.Error("it says that it was not woken")
		}
	}
}

// The runtime's poller does not know the socket any more: of it only the inbox's instance is told, and only of packets.
func TestInboxIsToldOfPacketsOnly(t *testing.T) {
	in, client := inboxAndClient(t)
	if err := in.watch(unix.EPOLLIN); err != nil {
		t.Fatal(err)
	}
	var events [1]unix.EpollEvent
	to, err := unix.Getsockname(in.socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Sendto(in.socket, []byte("to itself"), 0, to); err != nil {
		t.Fatal(err)
	}
	if _, _, err := unix.Recvfrom(in.socket, make([]byte, 16), 0); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.EpollWait(in.epoll, events[:], 0); n != 0 {
		t.Errorf("after an answer: %d, %v: %#x", n, err, events[0].Events)
	}
	if _, err := client.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.EpollWait(in.epoll, events[:], 5000); n != 1 || events[0].Events != unix.EPOLLIN {
		t.Errorf("after a packet: %d, %v: %#x", n, err, events[0].Events)
	}
}

// inboxAndClient gives an inbox and who sends to it.
func inboxAndClient(t *testing.T) (*inbox, net.Conn) {
	t.Helper()
	conns, err := bindUDP(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"), 1)
	if err != nil {
		t.Fatal(err)
	}
	at := conns[0].LocalAddr().String()
	in, err := newInbox(conns[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.close)
	client, err := net.Dial("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return in, client
}
