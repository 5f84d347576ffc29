package sessions

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/bgp/screen"
	"gslb/bgp/speaker"
	"gslb/bgp/wire"
	"gslb/test/rig"
)

// speakerProcess in the environment makes the test binary the speaker.
const speakerProcess = "GSLB_TEST_SPEAKER"

// patience bounds every wait for something that is to happen.
const patience = time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(speakerProcess) == "" {
		os.Exit(m.Run())
	}
	if err := speaker.Run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stage is sessions at work, with what their sink was told.
type stage struct {
	*bgp.Sessions
	t     *testing.T
	heard chan string

	mu      sync.Mutex
	speaker *exec.Cmd
}

func newStage(t *testing.T) *stage {
	st := &stage{t: t, heard: make(chan string, 10000)}
	say := func(format string, args ...any) { st.heard <- fmt.Sprintf(format, args...) }
	sink := bgp.Sink{
		Up: func(p bgp.Peer, s wire.Session) {
			say("up %s as=%d ipv4=%t ipv6=%t", p.Address, s.ASN, s.IPv4, s.IPv6)
		},
		Down: func(p bgp.Peer, c bgp.Cause) {
			say("down %s administrative=%t: %s", p.Address, c.Administrative, c.Text)
		},
		Routes: func(p bgp.Peer, changes []wire.Change) {
			for _, c := range changes {
				if c.Withdraw {
					say("withdraw %s", c.Prefix)
					continue
				}
				say("announce %s origin=%d length=%d", c.Prefix, c.Path.Origin, c.Path.PathLength)
			}
		},
		EndOfRIB: func(p bgp.Peer, ipv6 bool) { say("end ipv6=%t", ipv6) },
		Lost:     func() { say("lost") },
	}
	st.Sessions = bgp.NewSessions(st.command, sink, slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- st.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			t.Error("Run does not end")
		}
	})
	return st
}

func (st *stage) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), speakerProcess+"=1")
	st.mu.Lock()
	defer st.mu.Unlock()
	st.speaker = cmd
	return cmd
}

// killSpeaker ends the speaker as the kernel would.
func (st *stage) killSpeaker() {
	st.t.Helper()
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.speaker.Process.Kill(); err != nil {
		st.t.Fatal(err)
	}
}

// expect awaits all these, in any order, and fails at anything else that is told before the last.
func (st *stage) expect(want ...string) {
	st.t.Helper()
	waiting := make(map[string]bool)
	for _, w := range want {
		waiting[w] = true
	}
	for len(waiting) > 0 {
		select {
		case got := <-st.heard:
			if !waiting[got] {
				st.t.Fatalf("the sink heard %q, want one of %v", got, waiting)
			}
			delete(waiting, got)
		case <-time.After(patience):
			st.t.Fatalf("the sink heard nothing more, want %v; peers: %+v", waiting, st.Peers())
		}
	}
}

var ourself = bgp.Local{ASN: 64512, RouterID: netip.MustParseAddr("192.0.2.53")}

// freePort is an address of ours for peers to connect to.
func freePort(t *testing.T, address string) netip.AddrPort {
	t.Helper()
	a := netip.MustParseAddr(address)
	return netip.AddrPortFrom(a, rig.Vacant(t, a))
}

// router is a peer made by hand.
type router struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// answer awaits the connection of the sessions and opens BGP on it.
func answer(t *testing.T, l net.Listener) *router {
	t.Helper()
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	r := &router{t, conn, bufio.NewReader(conn)}
	r.send(screen.Offer{
		ASN: 64501, Identifier: netip.MustParseAddr("192.0.2.1"), HoldTime: 90 * time.Second,
		FourOctetAS: true, IPv4: screen.FamilyOffer{Offered: true},
	}.Message())
	if got := r.next(); got[18] != 1 {
		t.Fatalf("got %x, want an OPEN", got)
	}
	r.send(message(4))
	return r
}

func (r *router) send(m []byte) {
	r.t.Helper()
	if _, err := r.conn.Write(m); err != nil {
		r.t.Fatal(err)
	}
}

// next is the next message, or nil at the end of the connection.
func (r *router) next() []byte {
	r.t.Helper()
	head, err := r.in.Peek(screen.HeaderLength)
	if err == io.EOF {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	m := make([]byte, int(head[16])<<8|int(head[17]))
	if _, err := io.ReadFull(r.in, m); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// notification is the NOTIFICATION that ends the session.
func (r *router) notification() string {
	r.t.Helper()
	for {
		m := r.next()
		if m == nil {
			return "none"
		}
		if n, ok := screen.ReadNotification(m); ok {
			return n.String()
		}
	}
}

func message(kind byte, body ...byte) []byte {
	length := screen.HeaderLength + len(body)
	head := append([]byte(strings.Repeat("\xff", 16)), byte(length>>8), byte(length), kind)
	return append(head, body...)
}

// update announces 203.0.113.0/24 from AS 64502 by AS 64501, with another attribute.
func update(attribute ...byte) []byte {
	attributes := append([]byte{
		0x40, 1, 1, 0,
		0x40, 2, 10, 2, 2, 0, 0, 0xfb, 0xf5, 0, 0, 0xfb, 0xf6,
		0x40, 3, 4, 127, 0, 1, 1,
	}, attribute...)
	body := append([]byte{0, 0, 0, byte(len(attributes))}, attributes...)
	return message(2, append(body, 24, 203, 0, 113)...)
}

func TestSpeakerSurvivesWhatKillsGoBGP(t *testing.T) {
	st := newStage(t)
	l, err := net.Listen("tcp", "127.0.1.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	st.Apply(ourself, []bgp.Peer{{Partner: "sibtel", Address: at.Addr(), Port: at.Port(), ASN: 64501}})
	r := answer(t, l)
	st.expect("up 127.0.1.1 as=64501 ipv4=true ipv6=false")
	r.send(update(0xc0, 40, 3, 1, 0, 9)) // a truncated Prefix-SID
	st.expect("announce 203.0.113.0/24 origin=64502 length=2")
	r.send(update(0x80, 14, 3, 0, 1, 1)) // a truncated MP_REACH_NLRI
	if got := r.notification(); got != "3/9" {
		t.Errorf("got NOTIFICATION %s, want 3/9, optional attribute error", got)
	}
	st.expect(`down 127.0.1.1 administrative=false: we sent UPDATE message error, optional attribute error (3/9): "multiprotocol"`)
	r.conn.Close()
	answer(t, l)
	st.expect("up 127.0.1.1 as=64501 ipv4=true ipv6=false")
}

func TestSessionsComeBackAfterTheSpeakerIsKilled(t *testing.T) {
	st := newStage(t)
	l, err := net.Listen("tcp", "127.0.1.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	st.Apply(ourself, []bgp.Peer{{Partner: "sibtel", Address: at.Addr(), Port: at.Port(), ASN: 64501}})
	r := answer(t, l)
	st.expect("up 127.0.1.1 as=64501 ipv4=true ipv6=false")
	r.send(update())
	st.expect("announce 203.0.113.0/24 origin=64502 length=2")
	st.killSpeaker()
	st.expect("lost")
	r.conn.Close()
	r = answer(t, l)
	st.expect("up 127.0.1.1 as=64501 ipv4=true ipv6=false")
	r.send(update())
	st.expect("announce 203.0.113.0/24 origin=64502 length=2")
}

func TestPeerOfAnotherASIsRefused(t *testing.T) {
	st := newStage(t)
	l, err := net.Listen("tcp", "127.0.1.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	st.Apply(ourself, []bgp.Peer{{Partner: "sibtel", Address: at.Addr(), Port: at.Port(), ASN: 64999}})
	r := answer(t, l)
	if got := r.notification(); got != "2/2" {
		t.Errorf("got NOTIFICATION %s, want 2/2, bad peer AS", got)
	}
	for deadline := time.Now().Add(patience); ; {
		if cause := st.Peers()[0].Cause; cause == "we sent OPEN message error, bad peer AS (2/2)" {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the cause is %q", cause)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
