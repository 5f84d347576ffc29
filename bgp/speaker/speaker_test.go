package speaker

import (
	"context"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/osrg/gobgp/v3/pkg/packet/bgp"

	"gslb/bgp/wire"
)

var same = cmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})}

func TestTellsWhyASessionEnded(t *testing.T) {
	notify := func(subcode uint8, data string) func(*router) {
		return func(r *router) { r.send(bgp.NewBGPNotificationMessage(bgp.BGP_ERROR_CEASE, subcode, []byte(data))) }
	}
	long := strings.Repeat("long words ", 18) // 198 octets: more than RFC 8203 allowed, fewer than RFC 9003
	tests := []struct {
		name string
		end  func(*router)
		want wire.Reason
	}{
		{"administrative shutdown with words", notify(2, "\x0ccooling work"), wire.Reason{Cause: wire.Received, Code: 6, Subcode: 2, Text: "cooling work"}},
		{"administrative shutdown with many words", notify(2, "\xc6"+long), wire.Reason{Cause: wire.Received, Code: 6, Subcode: 2, Text: strings.TrimSpace(long)}},
		{"administrative shutdown without words", notify(2, ""), wire.Reason{Cause: wire.Received, Code: 6, Subcode: 2}},
		{"words that would break a log", notify(2, "\x06a\nb\x1bc\xff"), wire.Reason{Cause: wire.Received, Code: 6, Subcode: 2, Text: "a b c"}},
		{"peer de-configured", notify(3, ""), wire.Reason{Cause: wire.Received, Code: 6, Subcode: 3}},
		{"hard reset of a shutdown", notify(9, "\x06\x02\x04soon"), wire.Reason{Cause: wire.Received, Code: 6, Subcode: 9, Text: "soon"}},
		{"hold timer expired at the peer", func(r *router) { r.send(bgp.NewBGPNotificationMessage(4, 0, nil)) }, wire.Reason{Cause: wire.Received, Code: 4}},
		{"connection closed", func(r *router) { r.conn.Close() }, wire.Reason{Cause: wire.Lost}},
		{"message of no length", func(r *router) { r.conn.Write(make([]byte, 19)) }, wire.Reason{Cause: wire.Sent, Code: 1, Subcode: 2}},
	}
	s := launch(t)
	n := neighbour(1)
	s.begin(n)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			r, _ := s.establish(n)
			r.send(announce([]uint32{n.ASN}, nil, prefixes(50)...))
			r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
			if got, _ := s.routes(n.ID); len(got) != 50 {
				t.Errorf("learned %d routes, want 50", len(got))
			}
			tt.end(r)
			if got := s.session(n.ID, wire.Down).Reason; got != tt.want {
				t.Errorf("reason is %+v, want %+v", got, tt.want)
			}
			s.session(n.ID, wire.Ready) // and not a single withdrawal before it
		})
	}
	s.t = t
}

func TestASilentPeerIsGivenUp(t *testing.T) {
	s := launch(t)
	n := neighbour(1)
	n.HoldTime = 3 * time.Second
	s.begin(n)
	r, up := s.establish(n)
	if up.HoldTime != n.HoldTime {
		t.Errorf("hold time is %v, want %v", up.HoldTime, n.HoldTime)
	}
	if got := r.notification(); got.ErrorCode != 4 {
		t.Errorf("the silent peer got NOTIFICATION %d, want 4", got.ErrorCode)
	}
	if got, want := s.session(n.ID, wire.Down).Reason, (wire.Reason{Cause: wire.Sent, Code: 4}); got != want {
		t.Errorf("reason is %+v, want %+v", got, want)
	}
}

// TestARestartingPeerIsLostLikeAnyOther sees that gobgp's own keeping of stale routes never shows.
func TestARestartingPeerIsLostLikeAnyOther(t *testing.T) {
	if underRace {
		t.Skip("gobgp marks a route stale that it hands on meanwhile; nobody heeds the mark, but the detector sees it")
	}
	s := launch(t)
	n := neighbour(1)
	s.begin(n)
	all := prefixes(10)
	for _, announced := range []int{10, 4} {
		r, up := s.establish(n, bgp.NewCapGracefulRestart(true, false, 120,
			[]*bgp.CapGracefulRestartTuple{bgp.NewCapGracefulRestartTuple(bgp.RF_IPv4_UC, true)}))
		if !up.GracefulRestart {
			t.Errorf("session settled on %+v, want graceful restart", up)
		}
		r.send(announce([]uint32{n.ASN}, nil, all[:announced]...))
		r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
		got, _ := s.routes(n.ID)
		if len(got) != announced || slices.ContainsFunc(got, func(c wire.Change) bool { return c.Withdraw }) {
			t.Errorf("learned %+v, want %d announcements", got, announced)
		}
		r.conn.Close()
		if got := s.session(n.ID, wire.Down).Reason; got != (wire.Reason{Cause: wire.Lost}) {
			t.Errorf("reason is %+v, want a loss", got)
		}
		s.session(n.ID, wire.Ready)
	}
}

func TestTellsWhyNoSessionCame(t *testing.T) {
	s := launch(t)
	n := neighbour(1)
	s.begin(n)

	stranger := n
	stranger.ASN = 65000
	r := dial(t, stranger, s.port)
	r.send(open(stranger))
	if got := r.notification(); got.ErrorCode != 2 || got.ErrorSubcode != 2 {
		t.Errorf("a peer of another ASN got NOTIFICATION %d/%d, want 2/2", got.ErrorCode, got.ErrorSubcode)
	}
	got := s.session(n.ID, wire.Down).Reason
	if got.Cause != wire.Sent || got.Code != 2 || got.Subcode != 2 {
		t.Errorf("reason is %+v, want a NOTIFICATION 2/2 of ours", got)
	}
	s.session(n.ID, wire.Ready)

	dial(t, n, s.port).send(bgp.NewBGPNotificationMessage(bgp.BGP_ERROR_CEASE, bgp.BGP_ERROR_SUB_CONNECTION_REJECTED, nil))
	if got := s.session(n.ID, wire.Down).Reason; got.Cause != wire.Refused {
		t.Errorf("reason is %+v, want that the OPENs came to nothing", got)
	}
	s.session(n.ID, wire.Ready)
}

func TestTellsWhatTheOpensSettled(t *testing.T) {
	s := launch(t)
	n := neighbour(1)
	s.begin(n)
	_, got := s.establish(n,
		bgp.NewCapAddPath([]*bgp.CapAddPathTuple{bgp.NewCapAddPathTuple(bgp.RF_IPv4_UC, bgp.BGP_ADD_PATH_SEND)}),
		bgp.NewCapGracefulRestart(false, false, 120, nil))
	want := wire.Session{Neighbour: 1, State: wire.Up, ASN: n.ASN, RouterID: n.Address, HoldTime: time.Minute,
		IPv4: true, IPv6: true, AddPathIPv4: true, GracefulRestart: true, RestartTime: 2 * time.Minute}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("session differs (-want +got):\n%s", diff)
	}
}

func TestReconfigurationLeavesOtherSessionsAlone(t *testing.T) {
	s := launch(t)
	stays, changes, goes := neighbour(1), neighbour(2), neighbour(3)
	s.begin(stays, changes, goes)
	staying, _ := s.establish(stays)
	changing, _ := s.establish(changes)
	going, _ := s.establish(goes)

	changed, comes := changes, neighbour(4)
	changed.HoldTime = 30 * time.Second
	s.configure(comes, changed, stays)
	for name, r := range map[string]*router{"changed": changing, "removed": going} {
		if got := r.notification(); got.ErrorCode != 6 || got.ErrorSubcode != 3 {
			t.Errorf("%s neighbour got NOTIFICATION %d/%d, want Cease, Peer De-configured", name, got.ErrorCode, got.ErrorSubcode)
		}
	}
	seen := map[uint32][]wire.State{}
	for range 4 {
		m, ok := s.next().(wire.Session)
		if !ok {
			t.Fatalf("got %#v, want a session", m)
		}
		if m.State == wire.Down && m.Reason.Cause != wire.Deconfigured {
			t.Errorf("session of %d ended because of %+v, want the configuration", m.Neighbour, m.Reason)
		}
		seen[m.Neighbour] = append(seen[m.Neighbour], m.State)
	}
	want := map[uint32][]wire.State{2: {wire.Down, wire.Ready}, 3: {wire.Down}, 4: {wire.Ready}}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("sessions went otherwise (-want +got):\n%s", diff)
	}

	staying.send(announce([]uint32{stays.ASN}, nil, prefixes(1)...))
	staying.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
	if got, _ := s.routes(stays.ID); len(got) != 1 {
		t.Errorf("the untouched session gave %d routes, want 1", len(got))
	}
	if _, got := s.establish(changed); got.HoldTime != 30*time.Second {
		t.Errorf("hold time of the changed neighbour is %v, want 30s", got.HoldTime)
	}
}

// TestNobodyWithoutTheSecretConnects takes another process of this machine, which may use any loopback address.
func TestNobodyWithoutTheSecretConnects(t *testing.T) {
	t.Setenv("GODEBUG", "multipathtcp=0") // as the server sets it: the kernel signs no multipath connection
	s := launch(t)
	n, stranger := neighbour(1), neighbour(1)
	n.Secret = "a secret of this run"
	guess := n
	guess.Secret = "another"
	s.begin(n)
	refuses := func(when string) {
		t.Helper()
		for _, other := range []wire.Neighbour{stranger, guess} {
			if conn, err := connect(other, s.port, 100*time.Millisecond); err == nil {
				conn.Close()
				t.Errorf("%s, a connection with the secret %q is taken", when, other.Secret)
			}
		}
	}
	refuses("before the session")
	r, _ := s.establish(n)
	refuses("during the session")
	r.conn.Close()
	s.session(n.ID, wire.Down)
	s.session(n.ID, wire.Ready)
	refuses("after the session")
	r, _ = s.establish(n)
	r.send(announce([]uint32{n.ASN}, nil, prefixes(1)...))
	r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
	if got, _ := s.routes(n.ID); len(got) != 1 {
		t.Errorf("learned %v", got)
	}
}

func TestAnotherASNBeginsAnew(t *testing.T) {
	s := launch(t)
	n := neighbour(1)
	s.begin(n)
	s.establish(n)
	s.send(wire.Configure{ASN: 64999, RouterID: netip.MustParseAddr("192.0.2.53"), Neighbours: []wire.Neighbour{n}})
	if got := s.session(n.ID, wire.Down).Reason.Cause; got != wire.Deconfigured {
		t.Errorf("the session ended because of %v, want the configuration", got)
	}
	s.port = s.next().(wire.Listening).Port
	s.session(n.ID, wire.Ready)
	s.establish(n)
}

func TestRoutesComeInOrder(t *testing.T) {
	s := launch(t)
	n := neighbour(1)
	s.begin(n)
	r, _ := s.establish(n)
	p := prefixes(1)
	const rounds = 300
	for i := range rounds {
		r.send(announce([]uint32{n.ASN, uint32(i + 1)}, nil, p...))
		r.send(withdraw(p...))
	}
	r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
	got, _ := s.routes(n.ID)
	if len(got) != 2*rounds {
		t.Fatalf("learned %d changes, want %d", len(got), 2*rounds)
	}
	for i, c := range got {
		if c.Withdraw != (i%2 == 1) || !c.Withdraw && c.Path.Origin != uint32(i/2+1) {
			t.Fatalf("change %d is %+v: out of order", i, c)
		}
	}
}

func TestManyRoutesComeInFewMessages(t *testing.T) {
	s := launch(t)
	n := neighbour(1)
	s.begin(n)
	r, _ := s.establish(n)
	want := map[netip.Prefix]bool{}
	for _, p := range prefixes(10_000) {
		want[p] = true
		r.send(announce([]uint32{n.ASN}, nil, p))
	}
	r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
	got, messages := s.routes(n.ID)
	if len(got) != len(want) {
		t.Errorf("learned %d routes, want %d", len(got), len(want))
	}
	for _, c := range got {
		delete(want, c.Prefix)
	}
	if len(want) > 0 {
		t.Errorf("%d prefixes were not told", len(want))
	}
	if messages > len(got)/5 {
		t.Errorf("%d UPDATEs of a prefix each came in %d messages", len(got), messages)
	}
}

func TestLivesAndEndsWithItsInput(t *testing.T) {
	s, _ := spawn(t)
	s.begin(neighbour(1))
	alive := 0
	for late := time.After(patience); alive < 1; {
		select {
		case m := <-s.messages:
			if _, ok := m.(wire.Alive); ok {
				alive++
			}
		case <-late:
			t.Fatal("no signs of life")
		}
	}
	s.close()
	for range s.messages { // the pipe ends when the process does
	}
}

func TestEndsAtStop(t *testing.T) {
	s := launch(t)
	s.begin(neighbour(1))
	s.send(wire.Stop{})
	for range s.messages {
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in, server := io.Pipe()
	defer server.Close()
	go func() {
		wire.NewWriter(server).Write(wire.Hello{Version: wire.Version})
		cancel()
	}()
	if err := Run(ctx, in, io.Discard); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestRefusesAServerThatIsNotOurs(t *testing.T) {
	tests := []struct {
		name  string
		first wire.Message
		want  string
	}{
		{"another version", wire.Hello{Version: wire.Version + 1}, "version"},
		{"no greeting", wire.Stop{}, "not a greeting"},
		{"one of our own kind", wire.Alive{}, "not a greeting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, w := io.Pipe()
			go wire.NewWriter(w).Write(tt.first)
			err := Run(context.Background(), r, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one about %q", err, tt.want)
			}
		})
	}
}

func TestRefusesConfigurationsThatMakeNoSense(t *testing.T) {
	id := netip.MustParseAddr("192.0.2.53")
	with := func(change func(*wire.Neighbour)) []wire.Neighbour {
		n := neighbour(2)
		change(&n)
		return []wire.Neighbour{neighbour(1), n}
	}
	tests := []struct {
		name string
		in   wire.Configure
	}{
		{"no ASN", wire.Configure{RouterID: id}},
		{"router ID of IPv6", wire.Configure{ASN: 1, RouterID: netip.MustParseAddr("2001:db8::1")}},
		{"no router ID", wire.Configure{ASN: 1}},
		{"neighbour without ID", wire.Configure{ASN: 1, RouterID: id, Neighbours: with(func(n *wire.Neighbour) { n.ID = 0 })}},
		{"ID twice", wire.Configure{ASN: 1, RouterID: id, Neighbours: with(func(n *wire.Neighbour) { n.ID = 1 })}},
		{"address twice", wire.Configure{ASN: 1, RouterID: id, Neighbours: with(func(n *wire.Neighbour) { n.Address = neighbour(1).Address })}},
		{"address of the world", wire.Configure{ASN: 1, RouterID: id, Neighbours: with(func(n *wire.Neighbour) { n.Address = id })}},
		{"neighbour without ASN", wire.Configure{ASN: 1, RouterID: id, Neighbours: with(func(n *wire.Neighbour) { n.ASN = 0 })}},
		{"neighbour without family", wire.Configure{ASN: 1, RouterID: id, Neighbours: with(func(n *wire.Neighbour) { n.IPv4, n.IPv6 = false, false })}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := check(tt.in); err == nil {
				t.Errorf("%+v was taken", tt.in)
			}
		})
	}
}
