package bgp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gslb/test/rig"
)

// handmade is a connection of a peer made by hand.
type handmade struct {
	conn net.Conn
	in   chan []byte // messages of the server; closed at the end of the connection
}

// dial connects to the server from an address.
func (s *server) dial(from netip.Addr) (*handmade, error) {
	d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), Timeout: rig.Soon}
	conn, err := d.Dial("tcp", s.bgp.String())
	if err != nil {
		return nil, err
	}
	h := &handmade{conn, make(chan []byte, 1000)}
	go h.read()
	return h, nil
}

func (h *handmade) read() {
	defer close(h.in)
	r := bufio.NewReader(h.conn)
	for {
		head, err := r.Peek(19)
		if err != nil {
			return
		}
		m := make([]byte, binary.BigEndian.Uint16(head[16:]))
		if _, err := io.ReadFull(r, m); err != nil {
			return
		}
		h.in <- m
	}
}

var (
	errSilent = errors.New("the server says nothing")
	errClosed = errors.New("the server closed the connection")
)

// blink is enough for the speaker to be done with a session.
const blink = 300 * time.Millisecond

// next is the next message; nil at the end.
func (h *handmade) next() ([]byte, error) {
	select {
	case m := <-h.in:
		return m, nil
	case <-time.After(rig.Soon):
		return nil, errSilent
	}
}

// await reads until a message of this type.
func (h *handmade) await(kind byte) error {
	for {
		m, err := h.next()
		switch {
		case err != nil:
			return err
		case m == nil:
			return errClosed
		case m[18] == kind:
			return nil
		case m[18] == 3:
			return fmt.Errorf("the server sent NOTIFICATION %d/%d", m[19], m[20])
		}
	}
}

// verdict is the NOTIFICATION that ends the connection, as "3/1"; "closed" without one.
func (h *handmade) verdict() string {
	for {
		m, err := h.next()
		switch {
		case err != nil:
			return err.Error()
		case m == nil:
			return "closed"
		case m[18] == 3:
			return fmt.Sprintf("%d/%d", m[19], m[20])
		}
	}
}

// alive is an error when the connection ended.
func (h *handmade) alive() error {
	for {
		select {
		case m, ok := <-h.in:
			switch {
			case !ok:
				return errClosed
			case m[18] == 3:
				return fmt.Errorf("the server sent NOTIFICATION %d/%d", m[19], m[20])
			}
		default:
			return nil
		}
	}
}

func (h *handmade) send(messages ...[]byte) error {
	_ = h.conn.SetWriteDeadline(time.Now().Add(rig.Soon)) // a closed connection fails to write
	_, err := h.conn.Write(join(messages...))
	return err
}

// greeted connects and awaits the server's OPEN. While the server is not ready it closes connections
// without a word.
func (s *server) greeted(from netip.Addr, first []byte) *handmade {
	s.t.Helper()
	for end := time.Now().Add(rig.Soon); ; {
		h, err := s.dial(from)
		if err == nil {
			if err = h.send(first); err == nil {
				var m []byte
				if m, err = h.next(); m != nil {
					return h
				}
			}
			h.conn.Close()
		}
		if time.Now().After(end) {
			s.t.Fatalf("no OPEN from the server: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// established brings a session up and tells the end of the initial routes.
func (s *server) established(from netip.Addr, o open, initial ...[]byte) *handmade {
	s.t.Helper()
	return s.confirmed(from, o.message(), append(initial, ends())...)
}

// confirmed brings a session up with this OPEN, and sends these messages in it. Whoever comes back a
// millisecond after the last session may meet a speaker that is not done with that, and has to come again:
// the connection is closed, which may show by a reset.
func (s *server) confirmed(from netip.Addr, first []byte, messages ...[]byte) *handmade {
	s.t.Helper()
	for end := time.Now().Add(rig.Soon); ; {
		h := s.greeted(from, first)
		err := h.send(keepalive())
		if err == nil {
			err = h.await(4)
		}
		if err == nil {
			err = h.send(messages...)
		}
		if err == nil {
			return h
		}
		h.conn.Close()
		parted := errors.Is(err, errClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
		if !parted || time.Now().After(end) {
			s.t.Fatalf("no session: %v", err)
		}
		s.t.Logf("connecting again: %v", err)
		time.Sleep(blink)
	}
}

// tally counts checks.
type tally struct{ passed, all atomic.Int32 }

// bench is a server with a peer that misbehaves and one beside it that does not.
type bench struct {
	*server
	tally   *tally
	from    netip.Addr // the bad peer
	session *handmade  // its session, when one is up
	beside  *handmade
	process int // of the speaker
	number  int // of the check
}

// The good peer's client.
const bystander = "198.51.100.77"

func newBench(t *testing.T, count *tally) *bench {
	t.Helper()
	s := newServer(t)
	b := &bench{server: s, tally: count, from: s.net.host(5)}
	peer := func(a netip.Addr) string {
		return fmt.Sprintf("address: %s, asn: 64501, passive: true, add_path: true", a)
	}
	s.configure(partnerText("bad", "nsk", peer(b.from), `    accept: {within: [60.0.0.0/8, "2001:db8::/32"]}`) +
		partnerText("good", "spb", peer(s.net.host(6)), "    accept: {within: [198.51.100.0/24]}"))
	s.begin()
	b.beside = s.established(s.net.host(6), fair(), good("198.51.100.0/24"))
	t.Cleanup(func() { b.beside.conn.Close() })
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Second):
				_ = b.beside.send(keepalive()) // its end is noticed by the checks
			}
		}
	}()
	s.sends(bystander, "spb")
	b.process = s.speaker()
	return b
}

// check is one check with what has to be true after each.
func (b *bench) check(t *testing.T, name string, do func(t *testing.T)) {
	b.number++
	b.tally.all.Add(1)
	if t.Run(name, func(t *testing.T) {
		b.t = t
		do(t)
		b.intact()
	}) {
		b.tally.passed.Add(1)
	} else if b.session != nil {
		b.session.conn.Close()
		b.session = nil
	}
	b.t = t
}

// intact fails unless everything but the bad peer's session is as it was.
func (b *bench) intact() {
	b.t.Helper()
	if err := b.beside.alive(); err != nil {
		b.t.Errorf("the session beside it: %v", err)
	}
	if now := b.speaker(); now != b.process {
		b.t.Errorf("the speaker is process %d, want %d", now, b.process)
		b.process = now
	}
	b.keeps(bystander, "spb")
	if line := b.reason(bystander); strings.Contains(line, "stale") {
		b.t.Errorf("the good peer's prefix is stale: %s", line)
	}
}

// up has the bad peer's session up.
func (b *bench) up() *handmade {
	b.t.Helper()
	if b.session == nil || b.session.alive() != nil {
		b.session = b.established(b.from, fair())
	}
	return b.session
}

// prefix is one of the check's own.
func (b *bench) prefix(ipv6 bool) string {
	if ipv6 {
		return fmt.Sprintf("2001:db8:%x::/48", b.number)
	}
	return fmt.Sprintf("60.%d.%d.0/24", b.number>>7, b.number<<1&255)
}

// passes waits until all that the session sent has been looked at.
func (b *bench) passes() {
	b.t.Helper()
	mark := fmt.Sprintf("60.%d.%d.0/24", b.number>>7, b.number<<1&255|1)
	if err := b.session.send(good(mark)); err != nil {
		b.t.Fatalf("the session ended: %v; %s", err, b.session.verdict())
	}
	rig.Until(b.t, rig.Soon, "nsk", func() string {
		if err := b.session.alive(); err != nil {
			b.t.Fatal(err)
		}
		return b.site(inside(mark))
	})
}

// sent says what the server did with a message about the prefix, which it has as it should be if known.
func (b *bench) sent(prefix string, known bool, messages ...[]byte) string {
	b.t.Helper()
	h := b.up()
	if known {
		if err := h.send(good(prefix)); err != nil {
			b.t.Fatal(err)
		}
		b.sends(inside(prefix), "nsk")
	}
	if err := h.send(messages...); err != nil {
		b.t.Fatal(err)
	}
	b.passes()
	if b.site(inside(prefix)) == "nsk" {
		return taken
	}
	return gone
}

// ended says with what NOTIFICATION the server ended the session at these messages.
func (b *bench) ended(messages ...[]byte) string {
	b.t.Helper()
	h := b.up()
	b.session = nil
	defer h.conn.Close()
	_ = h.send(messages...) // it may be refused before all is written
	return h.verdict()
}

// What the server makes of a prefix.
const (
	taken = "taken"
	gone  = "gone"
)
