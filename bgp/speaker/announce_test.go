package speaker

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb/bgp/wire"
)

// announcing runs an announcer that is the neighbour of a speaker. What is written goes to it as words.
func announcing(t *testing.T, s *parent, n wire.Neighbour) (words io.Writer, ended <-chan error) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	a := Announcer{
		ASN: n.ASN, RouterID: n.Address, Local: netip.AddrPortFrom(n.Address, port),
		Peer: netip.AddrPortFrom(netip.MustParseAddr(loopback), s.port), PeerASN: ourASN,
		Prefixes: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8:203::/48")},
	}
	in, out := io.Pipe()
	result := make(chan error, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		result <- Announce(t.Context(), a, in, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		_ = out.Close()
		<-over
	})
	return out, result
}

// heard gathers routes, by prefix, until as many have come; and counts the ends of RIBs before that.
func (s *parent) heard(n int) (routes map[string]wire.Change, ends int) {
	s.t.Helper()
	routes = map[string]wire.Change{}
	for len(routes) < n {
		switch m := s.next().(type) {
		case wire.Routes:
			for _, c := range m.Changes {
				routes[c.Prefix.String()] = c
			}
		case wire.EndOfRIB:
			ends++
		default:
			s.t.Fatalf("got %#v, want routes", m)
		}
	}
	return routes, ends
}

func TestAnnouncerObeys(t *testing.T) {
	s := launch(t)
	n := neighbour(7)
	s.begin(n)
	words, ended := announcing(t, s, n)
	say := func(word string) {
		if _, err := io.WriteString(words, word+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, routes map[string]wire.Change, withdrawn bool) {
		t.Helper()
		if got, want := slices.Sorted(maps.Keys(routes)), []string{"2001:db8:203::/48", "203.0.113.0/24"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", when, got, want)
		}
		for prefix, c := range routes {
			if c.Withdraw != withdrawn || !withdrawn && (c.Path.Origin != n.ASN || c.Path.PathLength != 1) {
				t.Errorf("%s: %s is %+v", when, prefix, c)
			}
		}
	}
	begin := func(when string) {
		t.Helper()
		up := s.session(n.ID, wire.Up)
		if !up.IPv4 || !up.IPv6 || !up.GracefulRestart {
			t.Errorf("%s the session settled on %+v", when, up)
		}
		routes, ends := s.heard(2)
		check(when, routes, false)
		for ; ends < 2; ends++ {
			if m, ok := s.next().(wire.EndOfRIB); !ok {
				t.Fatalf("%s: got %#v, want the end of the RIB", when, m)
			}
		}
	}

	begin("at first")
	say(WordWithdraw)
	routes, _ := s.heard(2)
	check("withdrawn", routes, true)
	say(WordAnnounce)
	routes, _ = s.heard(2)
	check("announced again", routes, false)

	best := time.Hour
	for try := 0; best > 5*time.Second && try < 5; try++ { // the machine of a test may be busy: the quickest counts
		s.configure()
		s.session(n.ID, wire.Down)
		s.configure(n)
		s.session(n.ID, wire.Ready)
		lost := time.Now()
		begin("after a loss")
		best = min(best, time.Since(lost))
	}
	if best > 5*time.Second { // what gobgp alone takes at least
		t.Errorf("the next session came after %s", best)
	}

	say(WordShutdown)
	if reason := s.session(n.ID, wire.Down).Reason; !reason.Deliberate() {
		t.Errorf("the shutdown is told as %+v, which is nobody's will", reason)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAnnouncerEndsWithItsWords(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		asn   uint32
		want  string // in the error; empty: none
	}{
		"no words":        {"", 64501, ""},
		"a word":          {"announce\nwithdraw\n", 64501, ""},
		"an unknown word": {"sing\n", 64501, `"sing" is no word for an announcer`},
		"no ASN":          {"", 0, "needs two ASNs"},
	} {
		t.Run(name, func(t *testing.T) {
			port, err := freePort()
			if err != nil {
				t.Fatal(err)
			}
			local := netip.AddrPortFrom(netip.MustParseAddr(loopback), port)
			a := Announcer{ASN: c.asn, RouterID: local.Addr(), Local: local, Peer: netip.MustParseAddrPort("127.9.9.9:1"), PeerASN: ourASN}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err = Announce(ctx, a, strings.NewReader(c.words), slog.New(slog.DiscardHandler))
			if ctx.Err() != nil {
				t.Error("it goes on after its words")
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
