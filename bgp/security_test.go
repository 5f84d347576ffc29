package bgp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gslb/test/rig"
)

// moment is how long a test waits to see that nothing happens.
const moment = 300 * time.Millisecond

// needsMD5 skips a test where the kernel signs no connections.
func needsMD5(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	err = signed(netip.MustParseAddr("127.0.1.1"), "any")(fd)
	if err != nil {
		rig.Missing(t, "TCP MD5 cannot be tested: %v", err)
	}
}

// newGuardedStation listens with socket options.
func newGuardedStation(t *testing.T, address string, options ...control) *station {
	t.Helper()
	lc := net.ListenConfig{Control: controlled(options...)}
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &station{l.(*net.TCPListener), t}
}

// deserted checks that the relay comes to no connection.
func (s *station) deserted() {
	s.t.Helper()
	_ = s.SetDeadline(time.Now().Add(moment))
	if c, err := s.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Fatalf("got a connection (%v, %v), want none", c, err)
	}
}

func passwordFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestConnectionsWeOpenAreSigned(t *testing.T) {
	needsMD5(t)
	for _, address := range []string{"127.0.1.1", "::1"} {
		source := map[string]string{"127.0.1.1": "127.0.0.1", "::1": "::1"}[address]
		t.Run(address, func(t *testing.T) {
			st, at := newStage(t), newGuardedStation(t, address, signed(netip.MustParseAddr(source), "swordfish"))
			p := at.peer()
			p.Local, p.PasswordFile = netip.MustParseAddr(source), passwordFile(t, "swordfish\n")
			st.Apply(ourself, []Peer{p})
			at.router().open(neighbour, false)
			st.expect("up " + address)
		})
	}
}

func TestWrongPasswordComesToNoConnection(t *testing.T) {
	needsMD5(t)
	st, at := newStage(t), newGuardedStation(t, "127.0.1.1", signed(netip.MustParseAddr("127.0.0.1"), "swordfish"))
	p := at.peer()
	p.PasswordFile = passwordFile(t, "marlin\n")
	st.Apply(ourself, []Peer{p})
	st.eventually("the peer is called", func() bool { return st.view().State == Connecting })
	at.deserted()
}

func TestMissingPasswordIsAStateAndEndsWithTheFile(t *testing.T) {
	needsMD5(t)
	st, at := newStage(t), newGuardedStation(t, "127.0.1.1", signed(netip.MustParseAddr("127.0.0.1"), "swordfish"))
	p := at.peer()
	p.PasswordFile = filepath.Join(t.TempDir(), "password")
	st.Apply(ourself, []Peer{p})
	st.eventually("the missing file is the cause", func() bool {
		v := st.view()
		return v.State == Idle && strings.Contains(v.Cause, "password file: open "+p.PasswordFile)
	})
	if err := os.WriteFile(p.PasswordFile, []byte("swordfish"), 0o600); err != nil {
		t.Fatal(err)
	}
	at.router().open(neighbour, false)
	st.expect("up 127.0.1.1")
}

func TestConnectionsOfAPeerWithAPasswordMustBeSigned(t *testing.T) {
	needsMD5(t)
	st, local := newStage(t), ourself
	local.Listen = []netip.AddrPort{freePort(t, "127.0.0.1")}
	guarded, open := waited("127.0.1.1"), waited("127.0.1.2")
	guarded.PasswordFile = passwordFile(t, "swordfish")
	st.Apply(local, []Peer{guarded, open})
	st.ready()
	st.callFrom("127.0.1.2").open(neighbour, false)
	st.expect("up 127.0.1.2")
	dial := func(password string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, 1)}, Timeout: moment}
		if password != "" {
			d.Control = controlled(signed(netip.MustParseAddr("127.0.0.1"), password))
			d.Timeout = time.Minute
		}
		return d.DialContext(context.Background(), "tcp4", local.Listen[0].String())
	}
	st.eventually("the key is set", func() bool { return st.listens("127.0.1.1") })
	if c, err := dial(""); err == nil {
		c.Close()
		t.Error("an unsigned connection stands")
	}
	c, err := dial("swordfish")
	if err != nil {
		t.Fatal(err)
	}
	newRouter(t, c).open(neighbour, false)
	st.expect("up 127.0.1.1")
}

// listens tells whether the first listener has a key for the peer.
func (st *stage) listens(peer string) bool {
	st.Sessions.mu.Lock()
	defer st.Sessions.mu.Unlock()
	for _, l := range st.listeners {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.keys[netip.MustParseAddr(peer)] != "" {
			return true
		}
	}
	return false
}

func TestPeerWhosePasswordCannotBeReadIsNotLetInUnsigned(t *testing.T) {
	st, local := newStage(t), ourself
	local.Listen = []netip.AddrPort{freePort(t, "127.0.0.1")}
	p := waited("127.0.1.1")
	p.PasswordFile = filepath.Join(t.TempDir(), "none")
	st.Apply(local, []Peer{p})
	st.ready()
	st.rejects("127.0.1.1")
	if v := st.view(); v.Connects != 0 || !strings.Contains(v.Cause, "password file") {
		t.Errorf("view of the peer: %+v, want no connection because of its password file", v)
	}
}

func TestPasswordIsReadFromNothingButFiles(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{fifo, t.TempDir()} {
		if _, err := readPassword(file); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: got error %v, want one that says so", file, err)
		}
	}
}

// TestPeerThatConnectsWhileWeDoIsTaken has the peer's listener ignore us, by being without our key.
func TestPeerThatConnectsWhileWeDoIsTaken(t *testing.T) {
	needsMD5(t)
	st, at, local := newStage(t), newStation(t, "127.0.1.1"), ourself
	local.Listen = []netip.AddrPort{freePort(t, "127.0.0.1")}
	p := at.peer()
	p.PasswordFile = passwordFile(t, "swordfish")
	st.Apply(local, []Peer{p})
	st.eventually("we are connecting", func() bool { return st.view().State == Connecting })
	d := net.Dialer{
		LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, 1)}, Timeout: time.Minute,
		Control: controlled(signed(netip.MustParseAddr("127.0.0.1"), "swordfish")),
	}
	c, err := d.DialContext(t.Context(), "tcp4", local.Listen[0].String())
	if err != nil {
		t.Fatal(err)
	}
	newRouter(t, c).open(neighbour, false)
	st.expect("up 127.0.1.1")
}

func TestTTLSecurityTakesOnlyNearbyPeers(t *testing.T) {
	for _, c := range []struct {
		name, address string
		ttl           int
		hops          int
		near          bool
	}{
		{"direct", "127.0.1.1", 255, 1, true},
		{"too far", "127.0.1.1", 254, 1, false},
		{"two hops", "127.0.1.1", 254, 2, true},
		{"direct, IPv6", "::1", 255, 1, true},
		{"too far, IPv6", "::1", 64, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			distance := func(fd int) error {
				if c.address == "::1" {
					return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, c.ttl)
				}
				return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, c.ttl)
			}
			st, at := newStage(t), newGuardedStation(t, c.address, distance)
			p := at.peer()
			p.TTLSecurity = c.hops
			st.Apply(ourself, []Peer{p})
			if !c.near {
				at.deserted()
				return
			}
			at.router().open(neighbour, false)
			st.expect("up " + c.address)
		})
	}
}

func TestTTLSecurityHoldsForConnectionsThatThePeerOpens(t *testing.T) {
	st, local := newStage(t), ourself
	local.Listen = []netip.AddrPort{freePort(t, "127.0.0.1")}
	p := waited("127.0.1.1")
	p.TTLSecurity = 1
	st.Apply(local, []Peer{p})
	st.ready()
	r := st.callFrom("127.0.1.1") // with a TTL of 64, most likely
	if m, err := r.take(); err != nil || m[typeOfMessage] != typeOpen {
		t.Fatalf("awaiting an OPEN: got %x, %v", m, err)
	}
	r.send(offer(neighbour, netip.MustParseAddr("127.0.9.9"), 90*time.Second).Message(), keepalive())
	pause(t.Context(), moment)
	if got := st.view().Screened; got != 0 {
		t.Fatalf("%d messages came from afar, want none", got)
	}
	socket, err := r.conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := setOptions(socket, farthestTTL(false)); err != nil {
		t.Fatal(err)
	}
	st.expect("up 127.0.1.1") // by TCP sending again
}

func TestWePassTheTTLSecurityOfPeers(t *testing.T) {
	st, at := newStage(t), newGuardedStation(t, "127.0.1.1", nearbyOnly(false, 1))
	st.Apply(ourself, []Peer{at.peer()})
	at.router().open(neighbour, false)
	st.expect("up 127.0.1.1")
}

func TestPasswordIsTheFirstLineAndNeverInErrors(t *testing.T) {
	long := strings.Repeat("secret", 20)
	for _, c := range []struct{ name, text, want, cause string }{
		{"one line", "secret\n", "secret", ""},
		{"no final newline", "secret", "secret", ""},
		{"carriage return", "secret\r\n", "secret", ""},
		{"spaces belong to it", " se cret \n", " se cret ", ""},
		{"further lines are ignored", "secret\n# comment\n", "secret", ""},
		{"empty", "", "", "is empty"},
		{"empty line", "\nsecret\n", "", "is empty"},
		{"too long", long, "", "120 bytes long, TCP MD5 takes at most 80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readPassword(passwordFile(t, c.text))
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			switch {
			case c.cause == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case c.cause != "" && (err == nil || !strings.Contains(err.Error(), c.cause)):
				t.Errorf("got error %v, want one that says %q", err, c.cause)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("error shows the password: %v", err)
			}
		})
	}
}
