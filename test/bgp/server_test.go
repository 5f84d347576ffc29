package bgp

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// networks numbers what tests took of them.
var networks atomic.Uint32

// loopbacks is a network 127.X.N.0/24 of a test's own, so that tests do not meet.
type loopbacks uint8

func newLoopbacks() loopbacks { return loopbacks(networks.Add(1)) }

// host is the address of one host.
func (l loopbacks) host(n byte) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 20 + byte(os.Getpid()%40), byte(l), n})
}

// vacant is an address with a port that nobody listens on there.
func vacant(t testing.TB, a netip.Addr) netip.AddrPort {
	t.Helper()
	return netip.AddrPortFrom(a, rig.Vacant(t, a))
}

// sites names the places of a server by the address that it answers with. The site of a partner is nsk
// or spb; everybody else is sent to msk.
var sites = map[string]string{"198.51.100.1": "nsk", "198.51.100.2": "spb", "192.0.2.1": "msk"}

// frame is the configuration of every server; PARTNERS is what a test puts in.
const frame = `
server: {listen: ["DNS"], state: state.db}
admin: {listen: "ADMIN"}
geo: {database: GLOBE}
bgp: {asn: 64512, router_id: 192.0.2.53, listen: ["BGP"]}
datacenters: {msk: {location: [55.7, 37.6]}}
sites: {nsk: {partners_only: true}, spb: {partners_only: true}}
services:
  video: {at: {nsk: [198.51.100.1], spb: [198.51.100.2], msk: [192.0.2.1]}}
zones: {ok.test: {ns: [ns.example.], services: {video: video}}}
partners:
PARTNERS
`

// server is a gslb that runs.
type server struct {
	t              testing.TB
	net            loopbacks
	folder         string
	dns, bgp, door netip.AddrPort
	cmd            *exec.Cmd
	log            *rig.Output
}

// newServer makes a server of the test's own; nothing runs before begin.
func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, net: newLoopbacks(), folder: t.TempDir(), log: &rig.Output{}}
	s.bgp, s.dns, s.door = vacant(t, s.net.host(1)), vacant(t, s.net.host(1)), vacant(t, s.net.host(1))
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("log of gslb:\n%s", s.log)
		}
		if strings.Contains(s.log.String(), "DATA RACE") {
			t.Errorf("gslb has a data race:\n%s", s.log)
		}
	})
	return s
}

// configure writes the configuration. In the partners' text, indented by two, OURS is our address.
func (s *server) configure(partners string) {
	s.t.Helper()
	globe, err := filepath.Abs("../../cmd/gslb/testdata/globe.mmdb")
	if err != nil {
		s.t.Fatal(err)
	}
	text := strings.NewReplacer("DNS", s.dns.String(), "ADMIN", s.door.String(), "BGP", s.bgp.String(), "GLOBE", globe, "PARTNERS", partners).Replace(frame)
	s.write(strings.ReplaceAll(text, "OURS", s.bgp.Addr().String()))
}

// rewrite changes words of the configuration.
func (s *server) rewrite(old, fresh string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder, "gslb.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(strings.ReplaceAll(string(text), old, fresh))
}

// write puts a configuration in the place of the one before.
func (s *server) write(text string) {
	s.t.Helper()
	fresh := filepath.Join(s.folder, "fresh")
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(fresh, filepath.Join(s.folder, "gslb.yaml")); err != nil {
		s.t.Fatal(err)
	}
}

// begin runs the server until it is killed or the test ends. It returns when questions are answered.
func (s *server) begin() {
	s.t.Helper()
	s.launch()
	rig.Until(s.t, rig.Soon, "answers", func() string {
		if s.site("192.0.2.200") == "msk" {
			return "answers"
		}
		return "no answer"
	})
}

// launch runs the server, and does not wait until it answers.
func (s *server) launch() {
	s.t.Helper()
	binary, err := rig.Program()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(binary, "serve", "-c", "gslb.yaml")
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.folder, s.log, s.log
	s.cmd.Env = append(os.Environ(), "GORACE=halt_on_error=1") // of the speaker, too: it shows by its death
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// serving starts a server with these partners.
func serving(t testing.TB, partners func(s *server) string) *server {
	t.Helper()
	s := newServer(t)
	s.configure(partners(s))
	s.begin()
	return s
}

// kill ends the server without notice, if it runs.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// speaker is the process of the BGP speaker, or 0.
func (s *server) speaker() int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task) // a thread that ended has none
		for _, child := range strings.Fields(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if bytes.Contains(line, []byte("bgp-speaker")) {
				pid, _ := strconv.Atoi(child)
				return pid
			}
		}
	}
	return 0
}

// gslb runs one command of the operator and gives what it prints.
func (s *server) gslb(arguments ...string) string {
	s.t.Helper()
	binary, err := rig.Program()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(binary, append(arguments, "-c", "gslb.yaml")...)
	cmd.Dir = s.folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("gslb %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// question asks about the client, whose network is in it.
func question(class, kind uint16, client string) *dns.Msg {
	address := netip.MustParseAddr(client)
	m := new(dns.Msg)
	m.SetQuestion("video.ok.test.", kind)
	m.Question[0].Qclass = class
	m.SetEdns0(1232, false)
	subnet := &dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: uint8(address.BitLen()), Address: address.AsSlice()}
	if address.Is6() {
		subnet.Family = 2
	}
	m.IsEdns0().Option = append(m.IsEdns0().Option, subnet)
	return m
}

// ask puts a question with the client's network in it.
func (s *server) ask(class, kind uint16, client string) (*dns.Msg, error) {
	c := dns.Client{Timeout: 10 * time.Second} // nothing is lost on loopback: late is what a busy machine is
	if class == dns.ClassCHAOS {
		c.Net = "tcp"
	}
	r, _, err := c.Exchange(question(class, kind, client), s.dns.String())
	return r, err
}

// site is where a client is sent.
func (s *server) site(client string) string {
	r, err := s.ask(dns.ClassINET, dns.TypeA, client)
	if err != nil {
		return "no answer: " + err.Error()
	}
	if len(r.Answer) != 1 {
		return fmt.Sprintf("%d records", len(r.Answer))
	}
	a, ok := r.Answer[0].(*dns.A)
	if !ok {
		return r.Answer[0].String()
	}
	return sites[a.A.String()]
}

// reason is the line that tells what placed the client.
func (s *server) reason(client string) string {
	r, err := s.ask(dns.ClassCHAOS, dns.TypeTXT, client)
	if err != nil {
		return err.Error()
	}
	for _, rr := range r.Answer {
		if txt, ok := rr.(*dns.TXT); ok && strings.HasPrefix(txt.Txt[0], "placed=") {
			return strings.Join(txt.Txt, "")
		}
	}
	return r.String()
}

// sends waits until the client is sent to the site.
func (s *server) sends(client, site string) {
	s.t.Helper()
	rig.Until(s.t, rig.Soon, client+" to "+site, func() string { return client + " to " + s.site(client) })
}

// keeps fails unless the client is sent to the site now.
func (s *server) keeps(client, site string) {
	s.t.Helper()
	if got := s.site(client); got != site {
		s.t.Fatalf("client %s is sent to %q, want %s; %s", client, got, site, s.reason(client))
	}
}

// says waits until the reason for the client has all of these words.
func (s *server) says(client string, words ...string) {
	s.t.Helper()
	rig.Until(s.t, rig.Soon, "the words", func() string { return wordless(s.reason(client), words) })
}

// confirms waits until the client is sent to a partner's site by a prefix that is not stale.
func (s *server) confirms(client string) {
	s.t.Helper()
	rig.Until(s.t, rig.Soon, "confirmed", func() string {
		if line := s.reason(client); !strings.Contains(line, "placed=partners") || strings.Contains(line, " stale=") {
			return line
		}
		return "confirmed"
	})
}

// wordless is "the words" when the line has all of them.
func wordless(line string, words []string) string {
	for _, w := range words {
		if !strings.Contains(line+" ", w) {
			return fmt.Sprintf("no %q in %q", w, line)
		}
	}
	return "the words"
}

// logs waits until the log has the words since the mark.
func (s *server) logs(mark int, words string) {
	s.t.Helper()
	rig.Until(s.t, rig.Soon, words, func() string {
		if strings.Contains(s.log.Since(mark), words) {
			return words
		}
		return "a log without it"
	})
}

// always waits until the client is sent to this site and, in fifty answers in a row, to no other.
func (s *server) always(client, site string) {
	s.t.Helper()
	row := 0
	rig.Until(s.t, rig.Soon, "50 in a row to "+site, func() string {
		for row < 50 {
			if got := s.site(client); got != site {
				row = 0
				return fmt.Sprintf("%s after %d", got, row)
			}
			row++
		}
		return "50 in a row to " + site
	})
}
