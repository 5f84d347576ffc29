package speaker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/osrg/gobgp/v3/pkg/packet/bgp"
	"golang.org/x/sys/unix"

	"gslb/bgp/wire"
)

const (
	ourASN   = 64512
	patience = time.Minute
	// asChild makes the test's own binary be the speaker.
	asChild = "GSLB_TEST_SPEAKER"
)

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	if err := Run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// parent is the other end of a speaker's pipe.
type parent struct {
	t        testing.TB
	in       *wire.Writer
	close    func() error // ends the speaker's input
	messages chan wire.Message
	ended    chan error // what Run returned
	port     uint16
	logs     []wire.Log
	states   map[uint32]wire.State // of the neighbours' sessions, as told last
}

// launch runs a speaker in this process and greets it.
func launch(t testing.TB) *parent {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := newServer(t, inW, outR)
	go func() {
		err := Run(context.Background(), inR, outW)
		outW.CloseWithError(io.EOF)
		s.ended <- err
	}()
	s.greet()
	return s
}

// spawn runs a speaker in a process of its own and greets it.
func spawn(t testing.TB) (*parent, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asChild+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = outW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	outW.Close()
	s := newServer(t, in, outR)
	go func() { s.ended <- cmd.Wait() }()
	s.greet()
	return s, cmd
}

func newServer(t testing.TB, in io.WriteCloser, out io.Reader) *parent {
	s := &parent{t: t, in: wire.NewWriter(in), close: in.Close, messages: make(chan wire.Message, 1<<16), ended: make(chan error, 1),
		states: make(map[uint32]wire.State)}
	go func() {
		defer close(s.messages)
		r := wire.NewReader(out)
		for {
			m, err := r.Read()
			if err != nil {
				return
			}
			s.messages <- m
		}
	}()
	t.Cleanup(func() {
		s.close()
		select {
		case err := <-s.ended:
			if err != nil {
				t.Errorf("the speaker ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("the speaker did not end with its input")
		}
	})
	return s
}

func (s *parent) greet() {
	s.t.Helper()
	s.send(wire.Hello{Version: wire.Version})
	if m := s.next(); m != (wire.Hello{Version: wire.Version}) {
		s.t.Fatalf("first message is %#v, want a greeting", m)
	}
}

func (s *parent) send(m wire.Message) {
	s.t.Helper()
	if err := s.in.Write(m); err != nil {
		s.t.Fatalf("send %T: %v", m, err)
	}
}

func (s *parent) configure(neighbours ...wire.Neighbour) {
	s.t.Helper()
	s.send(wire.Configure{ASN: ourASN, RouterID: netip.MustParseAddr("192.0.2.53"), Neighbours: neighbours})
}

// begin configures the neighbours of a speaker that has none and waits until it is ready for all.
func (s *parent) begin(neighbours ...wire.Neighbour) {
	s.t.Helper()
	s.configure(neighbours...)
	ready := 0
	for s.port == 0 || ready < len(neighbours) {
		switch m := s.next().(type) {
		case wire.Listening:
			s.port = m.Port
		case wire.Session:
			if m.State != wire.Ready {
				s.t.Fatalf("got %+v, want a session that is ready", m)
			}
			ready++
		}
	}
}

// next gives the next message that is neither a sign of life nor a line for the log.
func (s *parent) next() wire.Message {
	s.t.Helper()
	late := time.After(patience)
	for {
		select {
		case m, ok := <-s.messages:
			if !ok {
				s.t.Fatal("the speaker's output ended")
			}
			switch m := m.(type) {
			case wire.Alive:
			case wire.Log:
				s.logs = append(s.logs, m)
			default:
				s.judge(m)
				return m
			}
		case <-late:
			s.t.Fatalf("no message came for %v; the log says %v", patience, s.logs)
		}
	}
}

// judge holds every message against what a server may rely on: a session comes up when it was ready
// and goes down for a reason, and routes come while it is up.
func (s *parent) judge(m wire.Message) {
	s.t.Helper()
	up := func(id uint32) bool { return s.states[id] == wire.Up }
	fair := true
	switch m := m.(type) {
	case wire.Session:
		switch m.State {
		case wire.Ready:
			fair = !up(m.Neighbour)
		case wire.Up:
			fair = s.states[m.Neighbour] == wire.Ready
		case wire.Down:
			fair = s.states[m.Neighbour] != wire.Down && m.Reason != wire.Reason{}
		}
		s.states[m.Neighbour] = m.State
	case wire.Routes:
		fair = up(m.Neighbour)
	case wire.EndOfRIB:
		fair = up(m.Neighbour)
	}
	if !fair {
		s.t.Errorf("%+v came out of turn", m)
	}
}

// session gives the next message, which must be of a session that comes to the state.
func (s *parent) session(id uint32, st wire.State) wire.Session {
	s.t.Helper()
	m, ok := s.next().(wire.Session)
	if !ok || m.Neighbour != id || m.State != st {
		s.t.Fatalf("got %+v, want a session of %d that is %v", m, id, st)
	}
	return m
}

// routes gathers changes until the End-of-RIB of IPv4, and counts the messages that they took.
func (s *parent) routes(id uint32) (changes []wire.Change, messages int) {
	s.t.Helper()
	for {
		switch m := s.next().(type) {
		case wire.Routes:
			if m.Neighbour != id {
				s.t.Fatalf("got routes of %d, want those of %d", m.Neighbour, id)
			}
			changes = append(changes, m.Changes...)
			messages++
		case wire.EndOfRIB:
			return changes, messages
		default:
			s.t.Fatalf("got %#v, want routes or their end", m)
		}
	}
}

// neighbour is one of both families with the address 127.9.0.id and the ASN 64500+id.
func neighbour(id uint32) wire.Neighbour {
	return wire.Neighbour{ID: id, Address: netip.AddrFrom4([4]byte{127, 9, 0, byte(id)}), ASN: 64500 + id,
		HoldTime: 90 * time.Second, IPv4: true, IPv6: true, AddPath: true, GracefulRestart: true}
}

// router is a hand-made peer: it says only what a test makes it say.
type router struct {
	t    testing.TB
	conn net.Conn
}

// dial opens the router's connection.
func dial(t testing.TB, n wire.Neighbour, port uint16) *router {
	t.Helper()
	conn, err := connect(n, port, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &router{t, conn}
}

// connect makes a connection as the relay does, signed if the neighbour has a secret.
func connect(n wire.Neighbour, port uint16, patience time.Duration) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: n.Address.AsSlice()}, Timeout: patience}
	d.SetMultipathTCP(false) // the kernel signs no multipath connection
	d.Control = func(_, _ string, c syscall.RawConn) (failed error) {
		if n.Secret == "" {
			return nil
		}
		sig := unix.TCPMD5Sig{Addr: unix.SockaddrStorage{Family: unix.AF_INET}, Keylen: uint16(len(n.Secret))}
		copy(sig.Addr.Data[2:], []byte{127, 0, 0, 1}) // sockaddr_in: port, address
		copy(sig.Key[:], n.Secret)
		err := c.Control(func(fd uintptr) { failed = unix.SetsockoptTCPMD5Sig(int(fd), unix.IPPROTO_TCP, unix.TCP_MD5SIG, &sig) })
		return errors.Join(err, failed)
	}
	return d.Dial("tcp4", net.JoinHostPort(loopback, fmt.Sprint(port)))
}

// open is an OPEN of both families and the capabilities.
func open(n wire.Neighbour, capabilities ...bgp.ParameterCapabilityInterface) *bgp.BGPMessage {
	capabilities = append(capabilities, bgp.NewCapFourOctetASNumber(n.ASN),
		bgp.NewCapMultiProtocol(bgp.RF_IPv4_UC), bgp.NewCapMultiProtocol(bgp.RF_IPv6_UC))
	return bgp.NewBGPOpenMessage(bgp.AS_TRANS, 60, n.Address.String(),
		[]bgp.OptionParameterInterface{bgp.NewOptionParameterCapability(capabilities)})
}

// establish connects a router and waits until the speaker calls the session up.
func (s *parent) establish(n wire.Neighbour, capabilities ...bgp.ParameterCapabilityInterface) (*router, wire.Session) {
	s.t.Helper()
	r := dial(s.t, n, s.port)
	r.send(open(n, capabilities...))
	r.send(bgp.NewBGPKeepAliveMessage())
	return r, s.session(n.ID, wire.Up)
}

func (r *router) send(m *bgp.BGPMessage) {
	r.t.Helper()
	if err := r.try(m); err != nil {
		r.t.Fatalf("send: %v", err)
	}
}

// try sends to a speaker that may have closed the connection.
func (r *router) try(m *bgp.BGPMessage) error {
	b, err := m.Serialize()
	if err != nil {
		return err
	}
	_, err = r.conn.Write(b)
	return err
}

// notification reads until the speaker ends the session, and gives its NOTIFICATION.
func (r *router) notification() *bgp.BGPNotification {
	r.t.Helper()
	r.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		head := make([]byte, bgp.BGP_HEADER_LENGTH)
		if _, err := io.ReadFull(r.conn, head); err != nil {
			r.t.Fatalf("wait for a NOTIFICATION: %v", err)
		}
		h := &bgp.BGPHeader{}
		if err := h.DecodeFromBytes(head); err != nil {
			r.t.Fatal(err)
		}
		body := make([]byte, int(h.Len)-len(head))
		if _, err := io.ReadFull(r.conn, body); err != nil {
			r.t.Fatal(err)
		}
		m, err := bgp.ParseBGPBody(h, body)
		if err != nil {
			r.t.Fatal(err)
		}
		if n, ok := m.Body.(*bgp.BGPNotification); ok {
			return n
		}
	}
}

// announce makes an UPDATE of IPv4 prefixes with an AS_PATH and communities.
func announce(path []uint32, communities []uint32, prefixes ...netip.Prefix) *bgp.BGPMessage {
	attributes := []bgp.PathAttributeInterface{
		bgp.NewPathAttributeOrigin(0),
		bgp.NewPathAttributeAsPath([]bgp.AsPathParamInterface{bgp.NewAs4PathParam(bgp.BGP_ASPATH_ATTR_TYPE_SEQ, path)}),
		bgp.NewPathAttributeNextHop("192.0.2.1"),
	}
	if communities != nil {
		attributes = append(attributes, bgp.NewPathAttributeCommunities(communities))
	}
	return bgp.NewBGPUpdateMessage(nil, attributes, nlri(prefixes))
}

func withdraw(prefixes ...netip.Prefix) *bgp.BGPMessage {
	return bgp.NewBGPUpdateMessage(nlri(prefixes), nil, nil)
}

func nlri(prefixes []netip.Prefix) []*bgp.IPAddrPrefix {
	all := make([]*bgp.IPAddrPrefix, len(prefixes))
	for i, p := range prefixes {
		all[i] = bgp.NewIPAddrPrefix(uint8(p.Bits()), p.Addr().String())
	}
	return all
}

// prefixes gives n different IPv4 networks of 24 bits.
func prefixes(n int) []netip.Prefix {
	all := make([]netip.Prefix, n)
	for i := range all {
		all[i] = netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(20 + i>>16), byte(i >> 8), byte(i), 0}), 24)
	}
	return all
}
