package dns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/config"
	"gslb/dns"
	"gslb/dns/steer"
)

// heard is a notifier of a test, in a bubble of synctest: what its secondaries heard, and what they say to it.
type heard struct {
	*dns.Notifier
	responder *dns.Responder
	log       bytes.Buffer
	latest    *steer.Snapshot // given to it between the changes only
	began     time.Time
	says      func(to netip.AddrPort, serial uint32) (rcode int, err error)

	served []netip.AddrPort

	mu   sync.Mutex
	said []string
	from map[netip.Addr]bool
}

func notifierOf(t *testing.T, says func(netip.AddrPort, uint32) (int, error)) *heard {
	t.Helper()
	n := &heard{responder: dns.NewResponder("ns1", "test"), began: time.Now(), says: says, from: map[netip.Addr]bool{}}
	n.Notifier = dns.NewNotifier(n.responder, func() *steer.Snapshot { return n.latest }, func() []netip.AddrPort { return n.served }, slog.New(slog.NewTextHandler(&n.log, nil)))
	n.Through(func(ctx context.Context, m *mdns.Msg, way dns.Way, key config.TSIGKey) (*mdns.Msg, error) {
		soa := m.Answer[0].(*mdns.SOA)
		if m.Opcode != mdns.OpcodeNotify || !m.Authoritative || m.Question[0].Qtype != mdns.TypeSOA || m.Question[0].Name != soa.Hdr.Name {
			t.Errorf("secondaries are told %v", m)
		}
		n.mu.Lock()
		n.from[way.From] = true
		n.said = append(n.said, strings.TrimSpace(fmt.Sprint(time.Since(n.began), " ", way.To.Addr(), " ", soa.Serial, " ", key.Name)))
		n.mu.Unlock()
		rcode, err := n.says(way.To, soa.Serial)
		if err != nil {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(2 * time.Second):
				return nil, err
			}
		}
		reply := new(mdns.Msg)
		return reply.SetRcode(m, rcode), nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return n
}

// publish puts a zone in force, waits, and gives what was heard meanwhile, and the metrics.
func (n *heard) publish(s *steer.Snapshot, wait time.Duration) (heard string) {
	n.latest = s
	n.Changed()
	time.Sleep(wait)
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.Sort(n.said)
	heard = strings.Join(n.said, "; ")
	n.said = nil
	return heard
}

func (n *heard) counted() string { return fmt.Sprint(maps.Collect(n.responder.Counts.Notices())) }

// withSecondaries is a snapshot whose zone has a serial, and these secondaries.
func withSecondaries(t *testing.T, serial int, secondaries string) *steer.Snapshot {
	t.Helper()
	return snapshotOf(t, fmt.Sprintf(`
server: {tsig_keys: testdata/tsig.keys}
zones:
  ok.test: {soa: {serial: %d}, ns: [ns.example.], transfer: {keys: [xfr], notify: [%s]}}
`, serial, secondaries))
}

func TestTellsSecondariesOfNewSerials(t *testing.T) {
	one := withSecondaries(t, 1, "192.0.2.7, {address: 192.0.2.8, key: xfr}")
	more := withSecondaries(t, 1, "192.0.2.7, 192.0.2.9")
	two := withSecondaries(t, 2, "192.0.2.7, 192.0.2.9")
	none := snapshotOf(t, "zones: {ok.test: {soa: {serial: 3}, ns: [ns.example.]}}")
	synctest.Test(t, func(t *testing.T) {
		n := notifierOf(t, func(netip.AddrPort, uint32) (int, error) { return mdns.RcodeSuccess, nil })
		for _, step := range []struct {
			what string
			s    *steer.Snapshot
			want string
		}{
			{"at the start", one, "0s 192.0.2.7 1; 0s 192.0.2.8 1 xfr."},
			{"nothing new", one, ""},
			{"another secondary", more, "2m0s 192.0.2.9 1"},
			{"another serial", two, "3m0s 192.0.2.7 2; 3m0s 192.0.2.9 2"},
			{"nobody to tell", none, ""},
		} {
			if got := n.publish(step.s, time.Minute); got != step.want {
				t.Errorf("%s: heard %q, want %q", step.what, got, step.want)
			}
		}
		if got := n.counted(); got != "map[{ok.test. answered}:5]" {
			t.Error(got)
		}
		if got := strings.Count(n.log.String(), `msg="secondary notified" zone=ok.test. secondary=192.0.2.`); got != 5 {
			t.Errorf("%d lines in\n%s", got, n.log.String())
		}
	})
}

func TestTellsSilentSecondariesAgain(t *testing.T) {
	one, two := withSecondaries(t, 1, "192.0.2.7"), withSecondaries(t, 2, "192.0.2.7")
	synctest.Test(t, func(t *testing.T) {
		n := notifierOf(t, func(netip.AddrPort, uint32) (int, error) { return 0, errors.New("timeout") })
		if got, want := n.publish(one, time.Hour), "0s 192.0.2.7 1; 16s 192.0.2.7 1; 1m8s 192.0.2.7 1; 34s 192.0.2.7 1; 6s 192.0.2.7 1"; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
		if got := n.counted(); got != "map[{ok.test. lost}:1]" || !strings.Contains(n.log.String(), `level=WARN msg="secondary could not be notified" zone=ok.test. secondary=192.0.2.7:53 serial=1 tries=5 cause=timeout`) {
			t.Errorf("%s\n%s", got, n.log.String())
		}
		if got, want := n.publish(two, time.Second), "1h0m0s 192.0.2.7 2"; got != want { // whose further tries end with the test
			t.Errorf("heard %q, want %q", got, want)
		}
	})
}

func TestAnOlderChangeIsNotToldAnyMore(t *testing.T) {
	one, two := withSecondaries(t, 1, "192.0.2.7"), withSecondaries(t, 2, "192.0.2.7")
	synctest.Test(t, func(t *testing.T) {
		n := notifierOf(t, func(_ netip.AddrPort, serial uint32) (int, error) {
			if serial == 1 {
				return 0, errors.New("timeout")
			}
			return mdns.RcodeSuccess, nil
		})
		heard := n.publish(one, 7*time.Second) + "; " + n.publish(two, time.Hour)
		if want := "0s 192.0.2.7 1; 6s 192.0.2.7 1; 7s 192.0.2.7 2"; heard != want {
			t.Errorf("heard %q, want %q", heard, want)
		}
		if got := n.counted(); got != "map[{ok.test. answered}:1]" {
			t.Error(got)
		}
	})
}

func TestASecondaryThatRefusesIsNotToldAgain(t *testing.T) {
	one := withSecondaries(t, 1, "192.0.2.7")
	synctest.Test(t, func(t *testing.T) {
		n := notifierOf(t, func(netip.AddrPort, uint32) (int, error) { return mdns.RcodeNotAuth, nil })
		if got, want := n.publish(one, time.Hour), "0s 192.0.2.7 1"; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
		if got := n.counted(); got != "map[{ok.test. refused}:1]" || !strings.Contains(n.log.String(), `cause="it answered NOTAUTH"`) {
			t.Errorf("%s\n%s", got, n.log.String())
		}
	})
}

// Secondaries that are silent, however many there are, keep one that answers waiting for a while only.
func TestSilentSecondariesHoldOthersUpForAWhileOnly(t *testing.T) {
	var silent []string
	for i := range 1000 {
		silent = append(silent, fmt.Sprintf("10.0.%d.%d", i/250, i%250+1))
	}
	s := withSecondaries(t, 1, strings.Join(silent, ", ")+", 192.0.2.7")
	synctest.Test(t, func(t *testing.T) {
		n := notifierOf(t, func(to netip.AddrPort, _ uint32) (int, error) {
			if to.Addr().As4()[0] == 10 {
				return 0, errors.New("timeout")
			}
			return mdns.RcodeSuccess, nil
		})
		n.publish(s, 3*time.Minute)
		if got := n.counted(); !strings.Contains(got, "{ok.test. answered}:1") {
			t.Errorf("after three minutes: %s", got)
		}
	})
}

// A secondary believes the address that it has the zone from.
func TestSecondariesAreToldFromWhereTheyHaveTheZone(t *testing.T) {
	for _, tc := range []struct{ served, secondary, want string }{
		{"192.0.2.53:53", "198.51.100.7", "192.0.2.53"},
		{"127.0.0.1:53 [2001:db8::53]:53 192.0.2.53:53 192.0.2.54:53", "198.51.100.7", "192.0.2.53"},
		{"192.0.2.53:53 [2001:db8::53]:53", `"2001:db8::7"`, "2001:db8::53"},
		{"127.0.0.2:53", "127.0.0.7", "127.0.0.2"},
		{"0.0.0.0:53 [::]:53", "198.51.100.7", "invalid IP"},
		{"", "198.51.100.7", "invalid IP"},
		{"192.0.2.53:53", "{address: 198.51.100.7, source: 192.0.2.54}", "192.0.2.54"},
	} {
		s := withSecondaries(t, 1, tc.secondary)
		synctest.Test(t, func(t *testing.T) {
			n := notifierOf(t, func(netip.AddrPort, uint32) (int, error) { return mdns.RcodeSuccess, nil })
			for _, at := range strings.Fields(tc.served) {
				n.served = append(n.served, netip.MustParseAddrPort(at))
			}
			n.publish(s, time.Second)
			if got := fmt.Sprint(slices.Collect(maps.Keys(n.from))); got != "["+tc.want+"]" {
				t.Errorf("%s is told from %s by one who serves %s, want %s", tc.secondary, got, tc.served, tc.want)
			}
		})
	}
}

func TestNoticesAreSigned(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	signs := make(chan bool, 1)
	secondary := &mdns.Server{PacketConn: conn, TsigSecret: secrets, MsgAcceptFunc: func(mdns.Header) mdns.MsgAcceptAction { return mdns.MsgAccept }}
	secondary.Handler = mdns.HandlerFunc(func(w mdns.ResponseWriter, m *mdns.Msg) {
		reply := new(mdns.Msg)
		reply.SetReply(m)
		if g := m.IsTsig(); g == nil || w.TsigStatus() != nil {
			reply.Rcode = mdns.RcodeRefused
		} else if <-signs {
			reply.SetTsig(g.Hdr.Name, g.Algorithm, 300, time.Now().Unix())
		}
		_ = w.WriteMsg(reply)
	})
	served := make(chan error)
	go func() { served <- secondary.ActivateAndServe() }()
	t.Cleanup(func() {
		_ = conn.Close()
		<-served
	})
	to := netip.MustParseAddrPort(conn.LocalAddr().String())
	key := config.TSIGKey{Name: "xfr.", Algorithm: mdns.HmacSHA256, Secret: config.TSIGSecret(secrets["xfr."])}
	for _, tc := range []struct {
		what string
		key  config.TSIGKey
		want string
	}{
		{"signed", key, "NOERROR <nil>"},
		{"with an answer that is not", key, "- its answer is not signed"},
		{"unsigned", config.TSIGKey{}, "REFUSED <nil>"},
	} {
		m := new(mdns.Msg)
		m.SetNotify("ok.test.")
		if tc.key.Name != "" {
			signs <- tc.what == "signed"
		}
		reply, err := dns.Exchange(t.Context(), m, dns.Way{To: to}, tc.key)
		got := "-"
		if reply != nil {
			got = mdns.RcodeToString[reply.Rcode]
		}
		if got = fmt.Sprint(got, " ", err); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.what, got, tc.want)
		}
	}
}
