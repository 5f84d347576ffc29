//go:build linux && (amd64 || arm64)

package dns

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gslb/dns/steer"
)

// TestPacketsAreAnsweredAtEveryPace sends one, two and many packets in all orders: a worker takes them one by one or
// many at once, by what it found before, and may overlook none in between.
func TestPacketsAreAnsweredAtEveryPace(t *testing.T) {
	for _, tc := range []struct {
		name, listen string
		coalesce     time.Duration
		seats        int64
	}{
		{"one address", "127.0.0.1", 0, 0}, {"all addresses", "0.0.0.0", 0, 0}, {"with pauses", "127.0.0.1", 50 * time.Microsecond, 0},
		{"waiting in the kernel", "127.0.0.1", 0, 1}, {"with pauses, waiting in the kernel", "0.0.0.0", 50 * time.Microsecond, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, client := serveOneSocket(t, tc.listen)
			s.coalesce.Store(int64(tc.coalesce))
			s.seats.most.Store(tc.seats)
			sizes := [...]int{1, 2, 3, batchSize, batchSize + 1}
			for i := range 2000 {
				ask(t, client, i, sizes[i*i%7%len(sizes)])
			}
		})
	}
}

// serveOneSocket serves on one socket until the test ends, and gives who asks it.
func serveOneSocket(t *testing.T, listen string) (*Server, net.Conn) {
	t.Helper()
	conns, err := bindUDP(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(listen), 0), 1)
	if err != nil {
		t.Fatal(err)
	}
	port := conns[0].LocalAddr().(*net.UDPAddr).Port
	client, err := net.Dial("udp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port)).String())
	if err != nil {
		t.Fatal(err)
	}
	snapshot := emptySnapshot()
	s := NewServer(NewResponder("ns1", "test"), func() *steer.Snapshot { return snapshot }, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() { s.serveUDP(ctx, conns[0], listen == "0.0.0.0") })
	t.Cleanup(func() {
		cancel()
		_ = conns[0].Close()
		worker.Wait()
		_ = client.Close()
		if n := s.seats.taken.Load(); n != 0 {
			t.Errorf("%d seats are still taken", n)
		}
	})
	return s, client
}

// ask sends so many requests at once, and waits for their replies.
func ask(t *testing.T, client net.Conn, round, requests int) {
	t.Helper()
	request, reply := make([]byte, headerSize), make([]byte, 512) // without a question: its error is an answer
	for i := range requests {
		binary.BigEndian.PutUint16(request, uint16(i))
		if _, err := client.Write(request); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		if n, err := client.Read(reply); err != nil || n != headerSize {
			t.Fatalf("round %d, reply %d of %d: %d octets: %v", round, i+1, requests, n, err)
		}
	}
}

// A worker that is asked fast waits in the kernel, and when nobody asks any more it gives its seat back; either way it
// answers what comes next.
func TestSeatIsHeldForAsLongAsPacketsComeFast(t *testing.T) {
	const many = 16
	s, client := serveOneSocket(t, "127.0.0.1")
	s.seats.most.Store(1)
	for round := range 20 {
		waitFor(t, "a worker that is asked without rest to take its seat", func() bool {
			ask(t, client, round, many)
			return s.seats.taken.Load() == 1
		})
		waitFor(t, "a worker that nobody asks to give its seat back", func() bool { return s.seats.taken.Load() == 0 })
		ask(t, client, round, 1)
	}
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !is(); runtime.Gosched() {
		if time.Now().After(until) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// Go's runtime does not see that somebody waits in the kernel, and who does so must stop for the collector all the same.
func TestCollectorEndsAWaitInTheKernel(t *testing.T) {
	in, _ := inboxAndClient(t)
	if err := waitsAtMost(in.socket, time.Minute); err != nil {
		t.Fatal(err)
	}
	ended := make(chan syscall.Errno)
	go func() {
		_, errno := mmsg(unix.SYS_RECVMMSG, in.socket, new(message), 1, unix.MSG_WAITFORONE)
		ended <- errno
	}()
	for {
		runtime.GC() // it may come before the wait begins
		select {
		case errno := <-ended:
			if errno != unix.EINTR {
				t.Errorf("the wait ended by %v", errno)
			}
			return
		default:
		}
	}
}

func TestSeatsAreNotTakenByMoreThanThereAre(t *testing.T) {
	for _, tc := range []struct{ most, takers, want int64 }{{0, 2, 0}, {-1, 2, 0}, {1, 2, 1}, {3, 2, 2}} {
		var s seats
		s.most.Store(tc.most)
		var got int64
		for range tc.takers {
			if s.take() {
				got++
			}
		}
		if got != tc.want || s.taken.Load() != tc.want {
			t.Errorf("%d seats, %d takers: %d took one, and %d are taken; want %d", tc.most, tc.takers, got, s.taken.Load(), tc.want)
		}
		for range got {
			s.leave()
		}
		if tc.most > 0 && !s.take() {
			t.Errorf("%d seats: none is free when all have left", tc.most)
		}
	}
}

// A pause is worth while when it gathers a packet, and only then: the rate of the last whole span tells.
func TestPauseOnlyWhilePacketsComeFast(t *testing.T) {
	const pause = 50 * time.Microsecond
	begin := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name  string
		every time.Duration
		pause time.Duration
		want  bool
	}{
		{"5,000 a second", 200 * time.Microsecond, pause, false},
		{"19,000 a second", 52 * time.Microsecond, pause, false},
		{"25,000 a second", 40 * time.Microsecond, pause, true},
		{"25,000 a second, without a pause", 40 * time.Microsecond, 0, false},
		{"15,000 a second, with a longer pause", 66 * time.Microsecond, 2 * pause, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p pace
			now := begin
			for range 1000 {
				now = now.Add(tc.every)
				p.note(1, now)
			}
			if got := p.gathers(tc.pause); got != tc.want {
				t.Errorf("got %v at %.0f packets a second", got, p.rate)
			}
			p.note(1, now.Add(time.Second)) // after a second of silence
			if p.gathers(tc.pause) {
				t.Errorf("still pauses after a second of silence, at %.0f packets a second", p.rate)
			}
		})
	}
}
