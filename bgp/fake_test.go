package bgp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"gslb/bgp/screen"
	"gslb/bgp/wire"
)

// fakeSpeaker in the environment makes the test binary a speaker.
const fakeSpeaker = "GSLB_TEST_FAKE_SPEAKER"

// Prefixes that end a fake speaker when a peer announces them.
var (
	deadly  = netip.MustParsePrefix("198.51.100.66/32") // it exits
	numbing = netip.MustParsePrefix("198.51.100.67/32") // it says nothing more, not even that it is alive
)

func TestMain(m *testing.M) {
	if os.Getenv(fakeSpeaker) != "" {
		speak(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

func fakeCommand(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), fakeSpeaker+"=1")
	return cmd
}

// speaker is just enough of one: it opens sessions, tells IPv4 prefixes of UPDATEs, and dies on order.
type speaker struct {
	mu         sync.Mutex
	out        *wire.Writer
	numb       bool
	asn        uint32
	routerID   netip.Addr
	neighbours map[netip.Addr]wire.Neighbour
	conns      map[netip.Addr]net.Conn
}

func speak(in io.Reader, out io.Writer) {
	s := &speaker{out: wire.NewWriter(out), conns: make(map[netip.Addr]net.Conn)}
	s.tell(wire.Hello{Version: wire.Version})
	lc := net.ListenConfig{}
	lc.SetMultipathTCP(false) // the kernel signs no multipath connection
	l, err := lc.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go s.accept(l)
	go func() {
		for range time.Tick(time.Second) {
			s.tell(wire.Alive{})
		}
	}()
	r := wire.NewReader(in)
	for first := true; ; {
		m, err := r.Read()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case wire.Configure:
			s.configure(m, l.(*net.TCPListener))
			if first {
				first = false
				s.tell(wire.Log{Text: "hello from the fake"})
				s.tell(wire.Listening{Port: uint16(l.Addr().(*net.TCPAddr).Port)})
			}
		case wire.Stop:
			return
		}
	}
}

func (s *speaker) tell(m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.numb {
		_ = s.out.Write(m)
	}
}

func (s *speaker) configure(m wire.Configure, l *net.TCPListener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asn, s.routerID, s.neighbours = m.ASN, m.RouterID, make(map[netip.Addr]wire.Neighbour)
	for _, n := range m.Neighbours {
		s.neighbours[n.Address] = n
		if c, err := l.SyscallConn(); err == nil {
			_ = setOptions(c, signed(n.Address, n.Secret)) // without a key no connection comes, which shows
		}
	}
	for a, c := range s.conns {
		if _, ok := s.neighbours[a]; !ok {
			_ = c.Close()
		}
	}
}

func (s *speaker) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		source := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()
		s.mu.Lock()
		n, ok := s.neighbours[source]
		if ok = ok && s.conns[source] == nil; ok {
			s.conns[source] = c
		}
		s.mu.Unlock()
		if !ok {
			_ = c.Close()
			continue
		}
		go s.session(c, n)
	}
}

func (s *speaker) session(c net.Conn, n wire.Neighbour) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, n.Address)
		_ = c.Close()
	}()
	in := bufio.NewReader(c)
	_, _ = c.Write(offer(s.asn, s.routerID, n.HoldTime).Message())
	down := wire.Session{Neighbour: n.ID, State: wire.Down, Reason: wire.Reason{Cause: wire.Lost}}
	var opened screen.Offer
	for {
		m, err := peek(in, nil)
		if err != nil {
			s.tell(down)
			return
		}
		switch m[typeOfMessage] {
		case typeOpen:
			opened, _ = screen.Open(m)
			_, _ = c.Write(keepalive())
		case typeKeepalive:
			s.tell(wire.Session{Neighbour: n.ID, State: wire.Up, ASN: opened.ASN, HoldTime: opened.HoldTime, IPv4: true, GracefulRestart: opened.Restart.Offered})
		case 2:
			s.update(n.ID, m)
		case 3:
			notification, _ := screen.ReadNotification(m)
			down.Reason = notified(notification, wire.Received)
			s.tell(down)
			return
		}
		_, _ = in.Discard(len(m))
	}
}

// update tells the IPv4 prefixes of an UPDATE.
func (s *speaker) update(id uint32, m []byte) {
	body := m[screen.HeaderLength:]
	withdrawn := int(body[0])<<8 | int(body[1])
	attributes := int(body[2+withdrawn])<<8 | int(body[3+withdrawn])
	changes := prefixes(body[2:2+withdrawn], true)
	changes = append(changes, prefixes(body[4+withdrawn+attributes:], false)...)
	if len(changes) == 0 {
		s.tell(wire.EndOfRIB{Neighbour: id})
		return
	}
	for _, c := range changes {
		switch c.Prefix {
		case deadly:
			println("panic: a deadly prefix")
			os.Exit(2)
		case numbing:
			s.mu.Lock()
			s.numb = true
			s.mu.Unlock()
		}
	}
	s.tell(wire.Routes{Neighbour: id, Changes: changes})
}

func prefixes(b []byte, withdraw bool) (all []wire.Change) {
	for len(b) > 0 {
		bits := int(b[0])
		var octets [4]byte
		n := copy(octets[:(bits+7)/8], b[1:])
		all = append(all, wire.Change{Prefix: netip.PrefixFrom(netip.AddrFrom4(octets), bits), Withdraw: withdraw})
		b = b[1+n:]
	}
	return all
}

func offer(asn uint32, id netip.Addr, hold time.Duration) screen.Offer {
	return screen.Offer{
		ASN: asn, Identifier: id, HoldTime: hold, FourOctetAS: true, RouteRefresh: true,
		IPv4: screen.FamilyOffer{Offered: true}, IPv6: screen.FamilyOffer{Offered: true},
	}
}

// message makes a message of a type.
func message(kind byte, body ...byte) []byte {
	m := make([]byte, screen.HeaderLength, screen.HeaderLength+len(body))
	for i := range 16 {
		m[i] = 0xff
	}
	length := screen.HeaderLength + len(body)
	m[16], m[17], m[18] = byte(length>>8), byte(length), kind
	return append(m, body...)
}

func keepalive() []byte { return message(typeKeepalive) }

// announcement is an UPDATE of one IPv4 prefix from AS 64501.
func announcement(p netip.Prefix) []byte {
	attributes := []byte{
		0x40, 1, 1, 0, // ORIGIN IGP
		0x40, 2, 6, 2, 1, 0, 0, 0xfb, 0xf5, // AS_PATH 64501
		0x40, 3, 4, 127, 0, 1, 1, // NEXT_HOP
	}
	address := p.Addr().As4()
	body := append([]byte{0, 0, 0, byte(len(attributes))}, attributes...)
	body = append(body, byte(p.Bits()))
	return message(2, append(body, address[:(p.Bits()+7)/8]...)...)
}

func endOfRIB() []byte { return message(2, 0, 0, 0, 0) }

// router is a peer's end of one connection.
type router struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func newRouter(t *testing.T, conn net.Conn) *router {
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return &router{t, conn, bufio.NewReader(conn)}
}

func (r *router) send(messages ...[]byte) {
	r.t.Helper()
	for _, m := range messages {
		if _, err := r.conn.Write(m); err != nil {
			r.t.Fatalf("send to the relay: %v", err)
		}
	}
}

// take gives the next message that is not a KEEPALIVE, or how the connection ended.
func (r *router) take() ([]byte, error) {
	for {
		m, err := peek(r.in, nil)
		if err != nil {
			return nil, err
		}
		m = append([]byte(nil), m...)
		_, _ = r.in.Discard(len(m))
		if m[typeOfMessage] != typeKeepalive {
			return m, nil
		}
	}
}

// open exchanges OPENs and confirms; graceful tells whether the router announces graceful restart.
func (r *router) open(asn uint32, graceful bool) {
	r.t.Helper()
	o := offer(asn, netip.MustParseAddr("127.0.9.9"), 90*time.Second)
	o.Restart.Offered = graceful
	r.send(o.Message())
	m, err := r.take()
	if err != nil || m[typeOfMessage] != typeOpen {
		r.t.Fatalf("awaiting an OPEN: got %x, %v", m, err)
	}
	r.send(keepalive())
}

// notification awaits a NOTIFICATION, and gives its code and subcode as "6/2".
func (r *router) notification() string {
	r.t.Helper()
	m, err := r.take()
	if err != nil {
		return "closed: " + bare(err)
	}
	n, ok := screen.ReadNotification(m)
	if !ok {
		r.t.Fatalf("awaiting a NOTIFICATION: got %x", m)
	}
	return n.String()
}

// closed waits until the relay closes the connection.
func (r *router) closed() {
	r.t.Helper()
	if m, err := r.take(); err == nil {
		r.t.Fatalf("got %x, want the connection closed", m)
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		r.t.Fatal("the connection stays open")
	}
}
