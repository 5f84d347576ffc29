package bgp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb/bgp/wire"
	"gslb/test/rig"
)

var (
	aPrefix   = netip.MustParsePrefix("203.0.113.0/24")
	ourself   = Local{ASN: 64512, RouterID: netip.MustParseAddr("192.0.2.53")}
	neighbour = uint32(64501)
)

// stage is Sessions at work, with what its sink and log were told.
type stage struct {
	*Sessions
	t     *testing.T
	heard chan string
}

func newStage(t *testing.T) *stage {
	st := &stage{t: t, heard: make(chan string, 1000)}
	say := func(format string, args ...any) { st.heard <- fmt.Sprintf(format, args...) }
	sink := Sink{
		Up:   func(p Peer, s wire.Session) { say("up %s", p.Address) },
		Down: func(p Peer, c Cause) { say("down %s administrative=%t: %s", p.Address, c.Administrative, c.Text) },
		Routes: func(p Peer, changes []wire.Change) {
			for _, c := range changes {
				say("routes %s %s withdraw=%t", p.Address, c.Prefix, c.Withdraw)
			}
		},
		EndOfRIB: func(p Peer, ipv6 bool) { say("end %s", p.Address) },
		Lost:     func() { say("lost") },
	}
	st.Sessions = NewSessions(fakeCommand, sink, slog.New(slog.NewTextHandler(discreet{t}, nil)))
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
		case <-time.After(time.Minute):
			t.Error("Run does not end")
		}
	})
	return st
}

// discreet is a log that no password may come into.
type discreet struct{ t *testing.T }

func (d discreet) Write(b []byte) (int, error) {
	for _, password := range []string{"swordfish", "marlin"} {
		if bytes.Contains(b, []byte(password)) {
			d.t.Errorf("password in the log: %s", b)
		}
	}
	return d.t.Output().Write(b)
}

// expect awaits that the sink is told these things next, in order.
func (st *stage) expect(want ...string) {
	st.t.Helper()
	for _, w := range want {
		select {
		case got := <-st.heard:
			if !strings.HasPrefix(got, w) {
				st.t.Fatalf("the sink heard %q, want %q", got, w)
			}
		case <-time.After(time.Minute):
			st.t.Fatalf("the sink heard nothing, want %q; peers: %+v", w, st.Peers())
		}
	}
}

// eventually waits until something holds that no channel tells of.
func (st *stage) eventually(what string, holds func() bool) {
	st.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(deadline) {
			st.t.Fatalf("not within a minute: %s; peers: %+v, listeners: %+v", what, st.Peers(), st.Listeners())
		}
		pause(st.t.Context(), 10*time.Millisecond)
	}
}

// view is the only peer's, or the zero view while there is none.
func (st *stage) view() PeerView {
	st.t.Helper()
	views := st.Peers()
	switch len(views) {
	case 0:
		return PeerView{}
	case 1:
		return views[0]
	}
	st.t.Fatalf("got %d peers, want one", len(views))
	return PeerView{}
}

// station is where a router listens.
type station struct {
	*net.TCPListener
	t *testing.T
}

func newStation(t *testing.T, address string) *station {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &station{l.(*net.TCPListener), t}
}

func (s *station) peer() Peer {
	at := s.Addr().(*net.TCPAddr).AddrPort()
	return Peer{Partner: "sibtel", Address: at.Addr(), Port: at.Port(), ASN: neighbour}
}

// router awaits the connection of the relay.
func (s *station) router() *router {
	s.t.Helper()
	_ = s.SetDeadline(time.Now().Add(time.Minute))
	conn, err := s.Accept()
	if err != nil {
		s.t.Fatalf("awaiting the relay: %v", err)
	}
	return newRouter(s.t, conn)
}

// waited is a peer that has to connect to us.
func waited(address string) Peer {
	return Peer{Partner: "sibtel", Address: netip.MustParseAddr(address), ASN: neighbour, Passive: true}
}

// ready waits until the relays know that the speaker takes connections.
func (st *stage) ready() {
	st.t.Helper()
	st.eventually("the speaker is ready", func() bool {
		open, _ := st.gate.now()
		for _, v := range st.Peers() {
			if v.Cause == notReady {
				return false
			}
		}
		return open != 0
	})
}

// dial connects to the first listener from an address.
func (st *stage) dial(source string) (net.Conn, error) {
	st.t.Helper()
	st.eventually("it listens", func() bool {
		all := st.Listeners()
		return len(all) > 0 && all[0].Cause == ""
	})
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: time.Minute}
	return d.DialContext(st.t.Context(), "tcp", st.Listeners()[0].Address.String())
}

// callFrom is a router that connected to the first listener from an address.
func (st *stage) callFrom(source string) *router {
	st.t.Helper()
	conn, err := st.dial(source)
	if err != nil {
		st.t.Fatal(err)
	}
	return newRouter(st.t, conn)
}

// rejects checks that connections from an address are closed at once.
func (st *stage) rejects(source string) {
	st.t.Helper()
	conn, err := st.dial(source)
	switch {
	case err == nil:
		newRouter(st.t, conn).closed()
	case !errors.Is(err, syscall.ECONNRESET): // it may be closed before we know that it stood
		st.t.Fatal(err)
	}
}

// freePort is an address of ours for peers to connect to.
func freePort(t *testing.T, address string) netip.AddrPort {
	t.Helper()
	a := netip.MustParseAddr(address)
	return netip.AddrPortFrom(a, rig.Vacant(t, a))
}

func TestSessionThatWeOpenBringsRoutes(t *testing.T) {
	for _, address := range []string{"127.0.1.1", "::1"} {
		t.Run(address, func(t *testing.T) {
			st, at := newStage(t), newStation(t, address)
			st.Apply(ourself, []Peer{at.peer()})
			r := at.router()
			r.open(neighbour, false)
			st.expect("up " + address)
			r.send(announcement(aPrefix), endOfRIB())
			st.expect("routes "+address+" 203.0.113.0/24 withdraw=false", "end "+address)
			st.eventually("the peer is seen as established", func() bool { return st.view().State == Established })
			if v := st.view(); v.Connects != 1 || v.Screened != 4 || v.Remote.Addr() != at.peer().Address {
				t.Errorf("view of the peer: %+v, want 1 connection to %s and 4 messages", v, address)
			}
			r.send(message(3, 6, 2, 4, 'b', 'y', 'e', '!'))
			st.expect("down " + address + ` administrative=true: the peer sent cease, administrative shutdown (6/2): "bye!"`)
			st.eventually("the flap is counted", func() bool { return st.view().Flaps == 1 })
		})
	}
}

func TestLostConnectionIsNotThePartnersWill(t *testing.T) {
	st, at := newStage(t), newStation(t, "127.0.1.1")
	st.Apply(ourself, []Peer{at.peer()})
	r := at.router()
	r.open(neighbour, false)
	st.expect("up 127.0.1.1")
	_ = r.conn.(*net.TCPConn).CloseWrite()
	st.expect("down 127.0.1.1 administrative=false: the peer closed the connection")
	at.router().open(neighbour, false)
	st.expect("up 127.0.1.1")
}

func TestPeersThatConnectShareAListener(t *testing.T) {
	st, local := newStage(t), ourself
	local.Listen = []netip.AddrPort{freePort(t, "127.0.0.1")}
	st.Apply(local, []Peer{waited("127.0.1.1"), waited("127.0.1.2")})
	st.ready()
	for _, address := range []string{"127.0.1.1", "127.0.1.2"} {
		st.callFrom(address).open(neighbour, false)
		st.expect("up " + address)
	}
	st.rejects("127.0.1.3")
	st.eventually("the stranger is counted", func() bool { return st.Listeners()[0].Unknown == 1 })
}

func TestSessionThatAnIPv6PeerOpens(t *testing.T) {
	st, local := newStage(t), ourself
	local.Listen = []netip.AddrPort{freePort(t, "::1")}
	st.Apply(local, []Peer{waited("::1")})
	st.ready()
	st.callFrom("::1").open(neighbour, false)
	st.expect("up ::1")
}

func TestListenersFollowTheConfiguration(t *testing.T) {
	st, local := newStage(t), ourself
	first, second := freePort(t, "127.0.0.1"), freePort(t, "127.0.0.2")
	at := newStation(t, "127.0.1.1")
	taken := at.Addr().(*net.TCPAddr).AddrPort()
	local.Listen = []netip.AddrPort{first, taken}
	st.Apply(local, []Peer{waited("127.0.1.1")})
	st.eventually("one listens and the other tells why not", func() bool {
		all := st.Listeners()
		return len(all) == 2 && all[0].Cause == "" && strings.Contains(all[1].Cause, "address already in use")
	})
	local.Listen = []netip.AddrPort{second}
	st.Apply(local, []Peer{waited("127.0.1.1")})
	st.eventually("the other one listens", func() bool {
		all := st.Listeners()
		return len(all) == 1 && all[0].Address == second && all[0].Cause == ""
	})
	st.ready()
	st.callFrom("127.0.1.1").open(neighbour, false)
	st.expect("up 127.0.1.1")
	if c, err := net.Dial("tcp", first.String()); err == nil {
		c.Close()
		t.Errorf("%s still takes connections", first)
	}
}

func TestMalformedMessagesEndTheSessionWithTheRightNotification(t *testing.T) {
	unsynchronized := message(2, 0, 0, 0, 0)
	unsynchronized[3] = 0
	for _, c := range []struct {
		name    string
		message []byte
		want    string
		reason  string
	}{
		{"marker", unsynchronized, "1/1", "marker"},
		{"length", message(2), "1/2", "length"},
		{"type", message(77), "1/3", "type"},
		{"second OPEN", offer(neighbour, netip.MustParseAddr("127.0.9.9"), 90*time.Second).Message(), "5/3", "unexpected-message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, at := newStage(t), newStation(t, "127.0.1.1")
			st.Apply(ourself, []Peer{at.peer()})
			r := at.router()
			r.open(neighbour, false)
			st.expect("up 127.0.1.1")
			r.send(c.message)
			if got := r.notification(); got != c.want {
				t.Errorf("got NOTIFICATION %s, want %s", got, c.want)
			}
			r.closed()
			st.expect("down 127.0.1.1 administrative=false: we sent ")
			if got := st.view().Refused; got[c.reason] != 1 || len(got) != 1 {
				t.Errorf("refused messages by reason: %v, want one of %q", got, c.reason)
			}
		})
	}
}

func TestChangeOfOnePeerLeavesTheOthersAlone(t *testing.T) {
	st := newStage(t)
	a, b := newStation(t, "127.0.1.1"), newStation(t, "127.0.1.2")
	st.Apply(ourself, []Peer{a.peer(), b.peer()})
	ra, rb := a.router(), b.router()
	ra.open(neighbour, false)
	st.expect("up 127.0.1.1")
	rb.open(neighbour, false)
	st.expect("up 127.0.1.2")

	changed := b.peer()
	changed.HoldTime = 30 * time.Second
	st.Apply(ourself, []Peer{a.peer(), changed})
	st.expect("down 127.0.1.2 administrative=false: changed in the configuration")
	if got := rb.notification(); got != "6/6" {
		t.Errorf("the changed peer got NOTIFICATION %s, want 6/6, other configuration change", got)
	}
	rb.conn.Close()
	rb = b.router()
	rb.open(neighbour, false)
	st.expect("up 127.0.1.2")

	st.Apply(ourself, []Peer{a.peer()})
	st.expect("down 127.0.1.2 administrative=true: removed from the configuration")
	if got := rb.notification(); got != "6/3" {
		t.Errorf("the removed peer got NOTIFICATION %s, want 6/3, peer de-configured", got)
	}
	ra.send(announcement(aPrefix))
	st.expect("routes 127.0.1.1 203.0.113.0/24")
	if v := st.view(); v.Connects != 1 || v.Flaps != 0 {
		t.Errorf("the peer that stayed: %+v, want its first connection", v)
	}
}

func TestAPeerThatLeavesForAMomentBeginsAnew(t *testing.T) {
	st, a, b := newStage(t), newStation(t, "127.0.1.1"), newStation(t, "127.0.1.2")
	st.Apply(ourself, []Peer{a.peer(), b.peer()})
	ra, rb := a.router(), b.router()
	ra.open(neighbour, false)
	st.expect("up 127.0.1.1")
	rb.open(neighbour, false)
	st.expect("up 127.0.1.2")
	st.Apply(ourself, []Peer{b.peer()})
	st.Apply(ourself, []Peer{a.peer(), b.peer()})
	st.expect("down 127.0.1.1 administrative=true: removed from the configuration")
	if got := ra.notification(); got != "6/3" {
		t.Errorf("got NOTIFICATION %s, want 6/3, peer de-configured", got)
	}
	ra.conn.Close()
	ra = a.router()
	ra.open(neighbour, false)
	st.expect("up 127.0.1.1")
	rb.send(announcement(aPrefix))
	st.expect("routes 127.0.1.2 203.0.113.0/24") // and no other word of the one beside it
}

func TestAnotherRouterIDIsAChangeToEveryPeer(t *testing.T) {
	st, at := newStage(t), newStation(t, "127.0.1.1")
	st.Apply(ourself, []Peer{at.peer()})
	r := at.router()
	r.open(neighbour, false)
	st.expect("up 127.0.1.1")
	other := ourself
	other.RouterID = netip.MustParseAddr("192.0.2.54")
	st.Apply(other, []Peer{at.peer()})
	st.expect("down 127.0.1.1 administrative=false: changed in the configuration")
	if got := r.notification(); got != "6/6" {
		t.Errorf("got NOTIFICATION %s, want 6/6, other configuration change", got)
	}
	r.conn.Close()
	r = at.router()
	r.open(neighbour, false)
	st.expect("up 127.0.1.1")
}

func TestPeersAreToldWhenTheServerEnds(t *testing.T) {
	at := newStation(t, "127.0.1.1")
	var r *router
	t.Run("until it ends", func(t *testing.T) {
		st := newStage(t)
		st.Apply(ourself, []Peer{at.peer()})
		r = at.router()
		r.open(neighbour, false)
		st.expect("up 127.0.1.1")
	})
	r.t = t
	if got := r.notification(); got != "6/2" {
		t.Errorf("got NOTIFICATION %s, want 6/2, administrative shutdown", got)
	}
}

func TestWithoutPeersNoSpeakerRuns(t *testing.T) {
	st, at := newStage(t), newStation(t, "127.0.1.1")
	running := func() bool { p, _ := st.gate.now(); return p != 0 }
	st.Apply(ourself, nil)
	st.Apply(ourself, []Peer{at.peer()})
	st.ready()
	st.Apply(ourself, nil)
	st.expect("down 127.0.1.1 administrative=true: removed from the configuration")
	st.eventually("the speaker ended", func() bool { return !running() })
	st.Apply(ourself, []Peer{at.peer()})
	st.ready()
}

func TestDeathOfTheSpeakerLosesAllSessionsUntilTheNextOne(t *testing.T) {
	st, at := newStage(t), newStation(t, "127.0.1.1")
	st.Apply(ourself, []Peer{at.peer()})
	r := at.router()
	r.open(neighbour, false)
	st.expect("up 127.0.1.1")
	r.send(announcement(deadly))
	st.expect("lost")
	if got := r.notification(); got != "6/8" && !strings.HasPrefix(got, "closed") {
		t.Errorf("got NOTIFICATION %s, want 6/8, out of resources", got)
	}
	r.conn.Close()
	at.router().open(neighbour, false)
	st.expect("up 127.0.1.1")
}

func TestResetBeginsTheSessionAnewAndEndsASuspension(t *testing.T) {
	st, at := newStage(t), newStation(t, "127.0.1.1")
	st.Apply(ourself, []Peer{at.peer()})
	r := at.router()
	r.open(neighbour, false)
	st.expect("up 127.0.1.1")
	st.Reset(at.peer().Address)
	if got := r.notification(); got != "6/4" {
		t.Errorf("after Reset: NOTIFICATION %s, want 6/4, administrative reset", got)
	}
	r.conn.Close()
	st.expect("down 127.0.1.1 administrative=false: reset by the operator")
	r = at.router()
	r.open(neighbour, false)
	st.expect("up 127.0.1.1")
	st.Suspend(at.peer().Address, time.Hour)
	if v := st.view(); time.Until(v.Paused) < 50*time.Minute || v.Cause != "it announced too many prefixes" {
		t.Errorf("while it ends the peer shows as suspended until %v, cause %q", v.Paused, v.Cause)
	}
	if got := r.notification(); got != "6/1" {
		t.Errorf("after Suspend: NOTIFICATION %s, want 6/1, maximum number of prefixes reached", got)
	}
	r.conn.Close()
	st.expect("down 127.0.1.1 administrative=false: it announced too many prefixes")
	st.eventually("the peer is left alone", func() bool {
		v := st.view()
		return v.State == Idle && time.Until(v.Paused) > 50*time.Minute
	})
	st.Reset(at.peer().Address)
	at.router().open(neighbour, false)
	if v := st.view(); time.Now().Before(v.Paused) {
		t.Errorf("after Reset: the peer is left alone until %v", v.Paused)
	}
	st.expect("up 127.0.1.1")
	if st.Reset(netip.MustParseAddr("192.0.2.1")) {
		t.Error("Reset knows a peer that is not configured")
	}
}

func TestOfCollidingConnectionsTheFirstIsKept(t *testing.T) {
	for _, c := range []struct {
		name     string
		graceful bool
	}{
		{"without graceful restart", false},
		{"but with graceful restart the new one", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, at, local := newStage(t), newStation(t, "127.0.1.1"), ourself
			local.Listen = []netip.AddrPort{freePort(t, "127.0.0.1")}
			st.Apply(local, []Peer{at.peer()})
			first := at.router()
			first.open(neighbour, c.graceful)
			st.expect("up 127.0.1.1")
			st.eventually("established", func() bool { return st.view().State == Established })
			kept := first
			if !c.graceful {
				st.rejects("127.0.1.1")
			} else {
				second := st.callFrom("127.0.1.1")
				kept = second
				if got := first.notification(); got != "6/7" {
					t.Errorf("the old connection got NOTIFICATION %s, want 6/7, connection collision resolution", got)
				}
				first.conn.Close()
				second.open(neighbour, true)
				st.expect("down 127.0.1.1 administrative=false: the peer connected anew", "up 127.0.1.1")
			}
			kept.send(announcement(aPrefix))
			st.expect("routes 127.0.1.1 203.0.113.0/24")
		})
	}
}
