package page

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gslb/test/rig"
)

// numbers counts the networks and ports that tests took. Two runs at a time begin at different ones.
var numbers atomic.Uint32

// loopback is a network 127.X.N.0/24 of a test's own; host is one of its addresses.
type loopback byte

func newLoopback() loopback { return loopback(numbers.Add(1)) }

func (l loopback) host(n byte) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 70 + byte(os.Getpid()%40), byte(l), n})
}

// endpoint is a web server of a place. While it is broken it says that it is not well, in words that a page must not
// take for its own.
type endpoint struct{ broken atomic.Bool }

const hostile = `<img src=x onerror="document.title='taken over'">`

func (e *endpoint) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if e.broken.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, hostile)
		return
	}
	fmt.Fprint(w, "OK")
}

// server is a gslb that serves a world of its own.
type server struct {
	t         *testing.T
	folder    string
	dns, door netip.AddrPort
	endpoints []*endpoint // by the number of their host, from 1 on
	log       rig.Output
	end       func() // ends it, and waits for that
}

// world is the configuration of a server: HOST1 and so on are its endpoints, PORT is where they listen.
const world = `
server: {listen: ["DNS"], state: state.db, explain: [127.0.0.0/8]}
admin: {listen: "DOOR", tokens: {TOKENS}}
geo: {database: GLOBE}
checks:
  web: {http: {path: /ping, port: PORT}, interval: 400ms, timeout: 400ms}
datacenters:
  msk-1: {location: [55.75, 37.62]}
  msk-2: {location: [55.80, 37.50]}
  ams: {location: [52.37, 4.90]}
sites:
  nsk: {location: [55.03, 82.92], partners_only: true}
partners:
  sibtel: {site: nsk, networks: [203.0.113.0/24]}
services:
  www: {check: web, ttl: 30, steer: [geo, datacenters], at: {msk-1: [HOST1], msk-2: [HOST2], ams: [HOST3]}}
  video: {check: web, ttl: 30, at: {nsk: [HOST4], msk-1: [HOST1], ams: [HOST3]}}
MORE
zones:
  ok.test: {ns: [ns.example.], services: {www: www, "@": www, video: video}}
`

// serving starts a server and its endpoints. more are lines of services.
func serving(t *testing.T, more string) *server {
	t.Helper()
	return guarded(t, more, "")
}

// guarded starts a server that takes tokens, as the configuration has them; without any it takes everybody.
func guarded(t *testing.T, more, tokens string) *server {
	t.Helper()
	s := &server{t: t, folder: t.TempDir()}
	l, hosts := newLoopback(), []netip.Addr{}
	for n := byte(1); n <= 4; n++ {
		hosts = append(hosts, l.host(n))
	}
	port, listeners := listen(t, hosts)
	words := []string{"PORT", fmt.Sprint(port), "MORE", strings.TrimSuffix(more, "\n"), "TOKENS", tokens}
	for i, host := range hosts {
		e := &endpoint{}
		s.endpoints = append(s.endpoints, e)
		s.answer(listeners[i], e)
		words = append(words, fmt.Sprintf("HOST%d", i+1), host.String())
	}
	own := l.host(100)
	s.dns, s.door = netip.AddrPortFrom(own, rig.Vacant(t, own)), netip.AddrPortFrom(own, rig.Vacant(t, own))
	globe, err := filepath.Abs("../../cmd/gslb/testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	words = append(words, "DNS", s.dns.String(), "DOOR", s.door.String(), "GLOBE", globe)
	text := strings.NewReplacer(words...).Replace(world)
	text = strings.NewReplacer(words...).Replace(text) // of more
	if err := os.WriteFile(filepath.Join(s.folder, "gslb.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.begin()
	return s
}

// listen takes one port of all addresses.
func listen(t *testing.T, hosts []netip.Addr) (port uint16, all []net.Listener) {
	t.Helper()
	for range 20 {
		port, all = rig.Vacant(t, hosts...), nil
		for _, host := range hosts {
			if l, err := net.Listen("tcp", netip.AddrPortFrom(host, port).String()); err == nil {
				all = append(all, l)
			}
		}
		if len(all) == len(hosts) {
			return port, all
		}
		for _, l := range all { // somebody was quicker
			l.Close()
		}
	}
	t.Fatal("no port stays vacant")
	return 0, nil
}

// answer has an endpoint answer.
func (s *server) answer(l net.Listener, e *endpoint) {
	s.t.Helper()
	web := &http.Server{Handler: e}
	done := make(chan struct{})
	go func() { _ = web.Serve(l); close(done) }()
	s.t.Cleanup(func() { web.Close(); <-done })
}

func (s *server) begin() {
	s.t.Helper()
	binary, err := rig.Plain()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", "-c", "gslb.yaml")
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.folder, &s.log, &s.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.end = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	s.t.Cleanup(func() {
		s.end()
		if s.t.Failed() {
			s.t.Logf("log of gslb:\n%s", s.log.String())
		}
	})
	for end := time.Now().Add(rig.Soon); ; time.Sleep(50 * time.Millisecond) {
		if response, err := http.Get(s.origin() + "/readyz"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			s.t.Fatalf("gslb is not ready after %s", rig.Soon)
		}
	}
}

func (s *server) origin() string { return "http://" + s.door.String() }

// dig gives what dig prints with +short, line by line, without quotes around the lines.
func (s *server) dig(arguments ...string) []string {
	s.t.Helper()
	all := append([]string{"@" + s.dns.Addr().String(), "-p", fmt.Sprint(s.dns.Port()), "+short"}, arguments...)
	out, err := exec.Command(rig.Installed(s.t, "dig", "bind9-dnsutils"), all...).Output()
	if err != nil {
		s.t.Fatalf("dig: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(strings.Trim(line, `"`), `\"`, `"`)
	}
	return lines
}
