//go:build linux && (amd64 || arm64)

package dns

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"gslb/dns/steer"
)

// TestPacketsAreAnsweredAtEveryPace sends one, two and many packets in all orders: a worker takes them one by one or
// many at once, by what it found before, and may overlook none in between.
func TestPacketsAreAnsweredAtEveryPace(t *testing.T) {
	for _, tc := range []struct {
		name, listen string
		coalesce     time.Duration
	}{
		{"one address", "127.0.0.1", 0}, {"all addresses", "0.0.0.0", 0}, {"with pauses", "127.0.0.1", 50 * time.Microsecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			listen := tc.listen
			conns, err := bindUDP(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(listen), 0), 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range conns[1:] {
				_ = other.Close()
			}
			snapshot := emptySnapshot()
			s := NewServer(NewResponder("ns1", "test"), func() *steer.Snapshot { return snapshot }, slog.New(slog.DiscardHandler))
			s.coalesce.Store(int64(tc.coalesce))
			ctx, cancel := context.WithCancel(t.Context())
			var worker sync.WaitGroup
			defer worker.Wait()
			defer func() { _ = conns[0].Close() }()
			defer cancel()
			worker.Go(func() { s.serveUDP(ctx, conns[0], listen == "0.0.0.0") })

			port := conns[0].LocalAddr().(*net.UDPAddr).Port
			client, err := net.Dial("udp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port)).String())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			sizes := [...]int{1, 2, 3, batchSize, batchSize + 1}
			for i := range 2000 {
				ask(t, client, i, sizes[i*i%7%len(sizes)])
			}
		})
	}
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
