package bgp

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// flooding is what makes the test's own binary flood the DNS server at this address until it is killed.
const flooding = "GSLB_FLOODING"

// flood sends questions as fast as it can, from many ports, and opens connections that say next to nothing, of which it
// keeps many. It returns when that is not to be done.
func flood() {
	at := os.Getenv(flooding)
	if at == "" {
		return
	}
	ask := new(dns.Msg)
	ask.SetQuestion("video.ok.test.", dns.TypeA)
	packet, err := ask.Pack()
	if err != nil {
		panic(err)
	}
	for range 4 {
		go func() {
			var conns [16]net.Conn
			for i := range conns {
				if conns[i], err = net.Dial("udp", at); err != nil {
					panic(err)
				}
			}
			for i := 0; ; i++ {
				_, _ = conns[i%len(conns)].Write(packet) // what is lost is lost
			}
		}()
	}
	var kept []net.Conn
	for i := 0; ; i++ {
		source := netip.AddrFrom4([4]byte{127, 66, byte(i % 4), 1})
		conn, err := (&net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0)), Timeout: time.Second}).Dial("tcp", at)
		if err != nil {
			continue
		}
		_, _ = conn.Write([]byte{0})
		if kept = append(kept, conn); len(kept) > 2000 {
			_ = kept[0].Close()
			kept = kept[1:]
		}
	}
}

// pace notes when something happened.
type pace struct {
	mu    sync.Mutex
	times []time.Time
}

func (p *pace) happened() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times = append(p.times, time.Now())
}

// gap is the longest time without, and the number of times, within a span.
func (p *pace) gap(from, to time.Time) (longest time.Duration, times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := from
	for _, at := range p.times {
		if at.Before(from) || at.After(to) {
			continue
		}
		longest, last, times = max(longest, at.Sub(last)), at, times+1
	}
	return max(longest, to.Sub(last)), times
}

// vitals are what a process has of the machine.
func (s *server) vitals() (memory, descriptors int) {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	memory, err = strconv.Atoi(regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(string(status))[1])
	if err != nil {
		s.t.Fatal(err)
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	return memory >> 10, len(open)
}

// shed is how many packets to the server's UDP port the kernel has dropped since its queue was full.
func (s *server) shed() (n int) {
	s.t.Helper()
	table, err := os.ReadFile("/proc/net/udp")
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.dns.Addr().As4()
	local := fmt.Sprintf("%02X%02X%02X%02X:%04X", a[3], a[2], a[1], a[0], s.dns.Port())
	for line := range strings.Lines(string(table)) {
		if words := strings.Fields(line); len(words) > 12 && words[1] == local {
			drops, _ := strconv.Atoi(words[12])
			n += drops
		}
	}
	return n
}

// metrics gives the sum of a metric whose labels hold these words, and how long that took.
func (s *server) metrics(name, labels string) (sum float64, took time.Duration, err error) {
	begin := time.Now()
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Get("http://" + s.door.String() + "/metrics")
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	took = time.Since(begin)
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[1], labels) {
			n, _ := strconv.ParseFloat(m[2], 64)
			sum += n
		}
	}
	return sum, took, err
}

// While there are far more questions than can be answered, and connections as fast as they can be made, what is too much is
// dropped by the kernel and by nobody else: probes, BGP and the operator keep their pace. After it everything is as it was.
func TestFloodHindersNothingElse(t *testing.T) {
	const span = 4 * time.Second
	s := newServer(t)
	probed := &pace{}
	door := vacant(t, s.net.host(8))
	endpoint := &http.Server{Addr: door.String(), ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { probed.happened() })}
	go endpoint.ListenAndServe()
	t.Cleanup(func() { endpoint.Close() })

	peer := s.net.host(5)
	s.configure(partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, asn: 64501, passive: true, hold: 6s, keepalive: 1s", peer), "    accept: {within: [60.0.0.0/8]}"))
	s.rewrite("services:\n", fmt.Sprintf("checks: {web: {http: {port: %d}, interval: 500ms, timeout: 500ms}}\nservices:\n  web: {check: web, at: {msk: [%s]}}\n", door.Port(), door.Addr()))
	s.rewrite("{video: video}", "{video: video, web: web}")
	s.begin()
	session := s.established(peer, fair(), good("60.1.0.0/24"))
	t.Cleanup(func() { session.conn.Close() })
	heard, lost, stop := &pace{}, make(chan string, 1), make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
				_ = session.send(keepalive()) // its end is noticed below
			}
		}
	}()
	go func() {
		for m := range session.in {
			if m[18] == 3 {
				lost <- fmt.Sprintf("NOTIFICATION %d/%d", m[19], m[20])
			}
			heard.happened()
		}
		lost <- "closed"
	}()
	s.sends("60.1.0.9", "nsk")
	memory, descriptors := s.vitals()

	// On a machine that does something else as well it is tried again: what a flood hinders it hinders each time.
	for try := 1; ; try++ {
		rig.Until(t, rig.Soon, "no failed probe", func() string {
			if failed, _, err := s.metrics("gslb_endpoint_failed_probes", `"web"`); err != nil || failed > 0 {
				return fmt.Sprintf("%v failed probes, %v", failed, err)
			}
			return "no failed probe"
		})
		hindered := s.flooded(span, probed, heard, memory, descriptors)
		select {
		case how := <-lost:
			t.Fatalf("the session was lost: %s", how)
		default:
		}
		if len(hindered) == 0 {
			return
		}
		t.Logf("try %d: %s", try, strings.Join(hindered, "\n"))
		if try == 4 {
			t.Fatal("a flood hinders something else")
		}
	}
}

// flooded floods the server for so long, and tells what was hindered by it.
func (s *server) flooded(span time.Duration, probed, heard *pace, memory, descriptors int) (hindered []string) {
	t := s.t
	t.Helper()
	fault := func(format string, words ...any) { hindered = append(hindered, fmt.Sprintf(format, words...)) }
	shedBefore := s.shed()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flooder := exec.Command(self)
	flooder.Env = append(os.Environ(), flooding+"="+s.dns.String())
	flooder.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := flooder.Start(); err != nil {
		t.Fatal(err)
	}
	stopFlood := sync.OnceFunc(func() { _ = flooder.Process.Kill(); _ = flooder.Wait() })
	defer stopFlood()

	begin := time.Now()
	var doors, streams []time.Duration
	var refused atomic.Int32
	for time.Since(begin) < span {
		if _, took, err := s.metrics("gslb_ready", ""); err == nil {
			doors = append(doors, took)
		} else {
			refused.Add(1)
		}
		c := dns.Client{Net: "tcp", Timeout: 5 * time.Second}
		if _, took, err := c.Exchange(question(dns.ClassINET, dns.TypeA, "60.1.0.9"), s.dns.String()); err == nil {
			streams = append(streams, took)
		} else {
			refused.Add(1)
		}
		time.Sleep(50 * time.Millisecond)
	}
	finish := time.Now()
	stopFlood()
	answered := time.Now()
	s.sends("60.1.0.9", "nsk")
	after := time.Since(answered)

	spare, soonest := 64, time.Second // MB
	if rig.Race {
		spare, soonest = 4*spare, 10*soonest // it keeps a shadow of all that was ever touched, and takes its time for that
	}
	rig.Until(t, rig.Soon, "as before", func() string {
		if m, d := s.vitals(); m > memory+spare || d > descriptors+8 {
			return fmt.Sprintf("%d MB and %d descriptors, where there were %d and %d", m, d, memory, descriptors)
		}
		return "as before"
	})
	memoryAfter, descriptorsAfter := s.vitals()
	dropped := s.shed() - shedBefore
	queries, _, _ := s.metrics("gslb_dns_queries_total", "udp")
	failed, _, _ := s.metrics("gslb_endpoint_failed_probes", `"web"`)
	up, _, _ := s.metrics("gslb_endpoint_up", `"web"`)
	probeGap, probes := probed.gap(begin, finish)
	heardGap, keepalives := heard.gap(begin, finish)
	slices.Sort(doors)
	slices.Sort(streams)
	t.Logf("%d questions answered and %d dropped by the kernel in %s; %d probes, longest gap %s, %v failed; %d keepalives, longest gap %s; admin door median %s, longest %s; TCP median %s, longest %s; first answer after it in %s; %d MB and %d descriptors, before %d and %d",
		int(queries), dropped, span, probes, probeGap, failed, keepalives, heardGap, middle(doors), last(doors), middle(streams), last(streams), after, memoryAfter, descriptorsAfter, memory, descriptors)

	if dropped == 0 {
		fault("it was no flood: the kernel dropped nothing")
	}
	if up != 1 || failed > 1 || probes < 4 || probeGap > 1500*time.Millisecond {
		fault("probes: %d in %s, with a gap of %s; %v failed", probes, span, probeGap, failed)
	}
	if heardGap > 3*time.Second {
		fault("keepalives: %d in %s, with a gap of %s", keepalives, span, heardGap)
	}
	if n := refused.Load(); n > 0 || last(doors) > 2*time.Second || last(streams) > 4*time.Second /* a first packet of its own may be lost in the flood, twice */ {
		fault("%d were refused; the admin door took up to %s, a question by TCP up to %s", n, last(doors), last(streams))
	}
	if after > soonest {
		fault("the first answer after the flood took %s", after)
	}
	return hindered
}

func middle(sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

func last(sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}
