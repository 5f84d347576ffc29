package doq

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/quic-go/quic-go"
)

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// house is a server whose replies are its messages behind "re: ". To "bad" there is none that may be, to "three" there
// are three, and one to "broken" breaks off.
type house struct {
	address string
	inside  atomic.Int64 // visits
	hangUps chan func()
	stop    func() // ends the server; it may be called again
}

func served(t *testing.T, change func(*Server)) *house {
	t.Helper()
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{address: socket.LocalAddr().String(), hangUps: make(chan func(), 100)}
	s := &Server{
		TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}, Longest: 64, Idle: 5 * time.Second, Write: 5 * time.Second, Connections: 100, Trusting: 100,
		Enter: func(source netip.Addr, hangUp func()) Visit {
			h.inside.Add(1)
			h.hangUps <- hangUp
			return Visit{Answer: replies, Leave: func() { h.inside.Add(-1) }}
		},
	}
	if change != nil {
		change(s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, socket) }()
	h.stop = func() {
		cancel()
		if err, ok := <-ended; ok {
			close(ended)
			if err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(func() {
		h.stop()
		if n := h.inside.Load(); n != 0 {
			t.Errorf("%d visits never ended", n)
		}
	})
	return h
}

func replies(source netip.Addr, message []byte) iter.Seq[[]byte] {
	reply := fmt.Appendf(nil, "re: %s", message)
	switch string(message) {
	case "bad":
		return nil
	case "three":
		return slices.Values([][]byte{reply, reply, reply})
	case "broken":
		return slices.Values([][]byte{reply, nil, reply})
	case "who":
		return slices.Values([][]byte{[]byte(source.String())})
	}
	return slices.Values([][]byte{reply})
}

func (h *house) dial(t *testing.T, protocol string) (*quic.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := quic.DialAddr(ctx, h.address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}, &quic.Config{})
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	}
	return conn, err
}

func (h *house) connect(t *testing.T) *quic.Conn {
	t.Helper()
	conn, err := h.dial(t, "doq")
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask sends octets on a stream of their own, and gives what comes back, or in words how it ends.
func ask(t *testing.T, conn *quic.Conn, octets string, end bool) string {
	t.Helper()
	stream, err := conn.OpenStreamSync(t.Context())
	if err != nil {
		return told(err)
	}
	_ = stream.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(stream, octets); err != nil {
		return told(err)
	}
	if end {
		_ = stream.Close()
	}
	got, err := io.ReadAll(stream)
	if err != nil {
		return told(err)
	}
	return string(got)
}

func told(err error) string {
	var application *quic.ApplicationError
	var reset *quic.StreamError
	switch {
	case errors.As(err, &application):
		return fmt.Sprintf("connection closed: %#x", uint64(application.ErrorCode))
	case errors.As(err, &reset):
		return fmt.Sprintf("stream reset: %#x", uint64(reset.ErrorCode))
	}
	return err.Error()
}

func TestStreams(t *testing.T) {
	h := served(t, func(s *Server) { s.Idle = 2 * time.Second })
	long := strings.Repeat("x", 64)
	for _, tc := range []struct {
		name, octets string
		open         bool // the stream is not ended
		want         string
	}{
		{"a message", "\x00\x03abc", false, "\x00\x07re: abc"},
		{"an empty one", "\x00\x00", false, "\x00\x04re: "},
		{"as long as can be", "\x00\x40" + long, false, "\x00\x44re: " + long},
		{"a longer one is cut", "\x00\x60" + long + long[:32], false, "\x00\x45re: " + long + "x"},
		{"several replies", "\x00\x05three", false, strings.Repeat("\x00\x09re: three", 3)},
		{"the client's address", "\x00\x03who", false, "\x00\x09127.0.0.1"},
		{"replies that cannot go on", "\x00\x06broken", false, "stream reset: 0x5"},
		{"what no client may send", "\x00\x03bad", false, "connection closed: 0x2"},
		{"nothing", "", false, "connection closed: 0x2"},
		{"half a length", "\x00", false, "connection closed: 0x2"},
		{"less than its length", "\x00\x04abc", false, "connection closed: 0x2"},
		{"more than its length", "\x00\x02abc", false, "connection closed: 0x2"},
		{"two", "\x00\x03abc\x00\x03abc", false, "connection closed: 0x2"},
		{"two, and more to come", "\x00\x03abc\x00\x03abc", true, "connection closed: 0x2"},
		{"one without an end", "\x00\x03abc", true, "stream reset: 0x5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ask(t, h.connect(t), tc.octets, !tc.open); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// One connection has many streams, whose answers do not wait for each other.
func TestStreamsDoNotWait(t *testing.T) {
	conn := served(t, nil).connect(t)
	slow, err := conn.OpenStreamSync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	for range 2 * streams { // also in the place of those that have ended
		if got := ask(t, conn, "\x00\x03abc", true); got != "\x00\x07re: abc" {
			t.Fatalf("got %q", got)
		}
	}
	if _, err := slow.Write([]byte("\x03abc")); err != nil {
		t.Fatal(err)
	}
	_ = slow.Close()
	if got, err := io.ReadAll(slow); err != nil || string(got) != "\x00\x07re: abc" {
		t.Errorf("got %q: %v", got, err)
	}
}

func TestACancelledRequestIsLetGo(t *testing.T) {
	conn := served(t, nil).connect(t)
	stream, err := conn.OpenStreamSync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Write([]byte{0, 3}); err != nil {
		t.Fatal(err)
	}
	stream.CancelWrite(requestCancelled)
	if _, err := io.ReadAll(stream); told(err) != "stream reset: 0x3" {
		t.Errorf("it ends with %v", err)
	}
	if got := ask(t, conn, "\x00\x03abc", true); got != "\x00\x07re: abc" {
		t.Errorf("and the next gets %q", got)
	}
}

func TestSpeaksNothingElse(t *testing.T) {
	h := served(t, nil)
	if _, err := h.dial(t, "h3"); err == nil || !strings.Contains(err.Error(), "no application protocol") {
		t.Errorf("another protocol: %v", err)
	}
	conn := h.connect(t)
	if _, err := conn.OpenUniStream(); err == nil {
		t.Error("a stream of one direction can be opened")
	}
	if conn.ConnectionState().Used0RTT {
		t.Error("something was taken before the handshake")
	}
}

func TestHangsUp(t *testing.T) {
	h := served(t, nil)
	conn := h.connect(t)
	if got := ask(t, conn, "\x00\x03abc", true); got != "\x00\x07re: abc" {
		t.Fatalf("got %q", got)
	}
	(<-h.hangUps)()
	select {
	case <-conn.Context().Done():
	case <-time.After(time.Minute):
		t.Fatal("the connection is open still")
	}
	if got := told(context.Cause(conn.Context())); got != "connection closed: 0x4" {
		t.Errorf("it ends with %s", got)
	}
}

// Clients are told of the end, also with a stream under way, and nobody waits for them.
func TestEnds(t *testing.T) {
	h := served(t, func(s *Server) { s.Idle = time.Minute })
	conn := h.connect(t)
	stream, err := conn.OpenStreamSync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	<-h.hangUps
	begin := time.Now()
	h.stop()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the end took %s", took)
	}
	<-conn.Context().Done()
	if got := told(context.Cause(conn.Context())); got != "connection closed: 0x0" {
		t.Errorf("it ends with %s", got)
	}
}

// Where there are many already, who comes has to show that its address is its own: the server's first word is Retry, which is
// no longer than what it answers, so nobody is flooded by it.
func TestNewcomersShowTheirAddress(t *testing.T) {
	h := served(t, func(s *Server) { s.Trusting = 2 })
	for i := range 4 {
		socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		seen := &first{PacketConn: socket}
		at, err := net.ResolveUDPAddr("udp", h.address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := quic.Dial(t.Context(), seen, at, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"doq"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		defer conn.CloseWithError(0, "")
		const long, retry = 0xf0, 0xf0 // of the first octet; the type of a long header stands in bits 4 and 5 (RFC 9000 section 17.2.5)
		if got := seen.octet.Load()&long == retry; got != (i >= 2) {
			t.Errorf("connection %d is asked for its address: %v", i, got)
		}
	}
}

// first keeps the first octet that came.
type first struct {
	net.PacketConn
	octet atomic.Uint32
}

func (f *first) ReadFrom(b []byte) (n int, from net.Addr, err error) {
	n, from, err = f.PacketConn.ReadFrom(b)
	if n > 0 {
		f.octet.CompareAndSwap(0, uint32(b[0]))
	}
	return n, from, err
}

func TestConnectionsAreBounded(t *testing.T) {
	h := served(t, func(s *Server) { s.Connections = 3 })
	for range 3 {
		h.connect(t)
	}
	if _, err := h.dial(t, "doq"); err == nil || !strings.Contains(err.Error(), "CONNECTION_REFUSED") {
		t.Errorf("one too many: %v", err)
	}
}

// FuzzMessage reads anything as a stream. What is one message is given, cut where it is too long, however it comes.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{"", "\x00", "\x00\x00", "\x00\x03abc", "\x00\x03ab", "\x00\x03abcd", "\xff\xff" + strings.Repeat("x", 2000)} {
		f.Add([]byte(seed), 10)
	}
	f.Fuzz(func(t *testing.T, octets []byte, longest int) {
		longest = 1 + longest&0xffff
		whole := len(octets) >= 2 && len(octets) == 2+int(binary.BigEndian.Uint16(octets))
		for _, r := range []io.Reader{bytes.NewReader(octets), iotest.OneByteReader(bytes.NewReader(octets)), iotest.DataErrReader(bytes.NewReader(octets))} {
			message, err := readMessage(r, longest)
			if (err == nil) != whole {
				t.Fatalf("%x: %v", octets, err)
			}
			if err == nil && !bytes.Equal(message, octets[2:2+min(len(octets)-2, longest+1)]) {
				t.Fatalf("%x became %x", octets, message)
			}
			if cap(message) > 4*(len(octets)+512) {
				t.Fatalf("%d octets are kept for %d", cap(message), len(octets))
			}
		}
	})
}
