package bgp

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/admin"
	"gslb/test/rig"
)

// The benchmarks here are the numbers of deploy/decisions, with the program itself, real sockets and a
// client that asks in a loop:
//
//	go test -run '^$' -bench . -benchtime 5x ./test/bgp

// BenchmarkHundredThousandFromBIRD tells how long it is from the last octet of BIRD's last UPDATE to the
// answer that knows all of its prefixes.
func BenchmarkHundredThousandFromBIRD(b *testing.B) {
	var all []time.Duration
	for b.Loop() {
		all = append(all, hundredThousand(b))
	}
	report(b, all)
}

// hundredThousand is one trial, with a BIRD and a server of its own. Both are set up before the
// clock of the benchmark counts, which is of no interest here.
func hundredThousand(b *testing.B) time.Duration {
	const count = 100_000
	s, bird := beside(b)
	tap := newTap(b, vacant(b, s.net.host(10)), bird.at)
	prefixes := make([]string, count)
	for i := range prefixes {
		prefixes[i] = fmt.Sprintf("%d.%d.%d.0/24", 60+i>>16, i>>8&255, i&255)
	}
	bird.configure(routes("four", prefixes...), bird.session("gslb", tap.at, "passive;"))
	bird.begin()
	rig.Until(b, rig.Soon, "the words", func() string {
		return wordless(bird.command("show", "route", "count"), []string{fmt.Sprintf("%d of %d routes", count, count)})
	})
	s.configure(partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, port: %d, asn: 64501, local: OURS", tap.at.Addr(), tap.at.Port()),
		"    accept: {within: [60.0.0.0/6]}"))
	s.begin()
	asker := s.asker()
	asker.until(inside(prefixes[count-1]), "nsk", time.Millisecond)
	complete, last := time.Now(), time.Unix(0, tap.last.Load())
	if got := s.accepted(); got != count {
		b.Fatalf("%d prefixes are accepted when the last of the list steers, want %d at once", got, count)
	}
	s.kill()
	bird.kill()
	return complete.Sub(last)
}

// accepted counts the prefixes of all peers that are believed.
func (s *server) accepted() (n int) {
	s.t.Helper()
	var all admin.Partners
	if err := json.Unmarshal([]byte(s.gslb("partners", "--json")), &all); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range all.Partners {
		for _, peer := range p.Peers {
			n += peer.Accepted
		}
	}
	return n
}

// BenchmarkOneUpdateOnAMillion tells, on top of a million prefixes of two partners, how long it is from
// the writing of an UPDATE to the first answer by it; and what the server's memory is then.
func BenchmarkOneUpdateOnAMillion(b *testing.B) {
	s := newServer(b)
	before, peers := s.million()
	asker := s.asker()
	const prefix, client = "203.0.113.0/24", "203.0.113.1"
	random := uint32(1)
	var all []time.Duration
	for i := 0; b.Loop(); i++ {
		random = random*1664525 + 1013904223
		time.Sleep(50*time.Millisecond + time.Duration(random>>16%64)*time.Millisecond) // in no step with any timer
		m, site := good(prefix), "nsk"
		if i%2 == 1 {
			m, site = update(nlri(prefix), nil, nil), "msk"
		}
		begin := time.Now()
		if err := peers[0].send(m); err != nil {
			b.Fatal(err)
		}
		asker.until(client, site, 0)
		all = append(all, time.Since(begin))
		if i%16 == 0 {
			for _, p := range peers {
				_ = p.send(keepalive()) // its end would show
			}
		}
	}
	report(b, all)
	b.ReportMetric((s.resident("RssAnon:")-before)/1024, "MB-anonymous-over-empty")
	b.ReportMetric(s.resident("RssAnon:")/1024, "MB-anonymous")
	b.ReportMetric(s.resident("VmRSS:")/1024, "MB-resident")
}

// million has two peers announce a million prefixes, spread and of several lengths as those of a full
// table are, and waits until they steer. It tells what anonymous memory the server had before, in kB.
func (s *server) million() (before float64, peers []*handmade) {
	s.t.Helper()
	const count, each = 1_000_000, 50
	from := []netip.Addr{s.net.host(5), s.net.host(6)}
	accept := "    accept: {within: [0.0.0.0/1, 203.0.113.0/24], max_prefixes: 2000000}"
	keys := func(a netip.Addr) string { return fmt.Sprintf("address: %s, asn: 64501, passive: true, hold: 600s", a) }
	s.configure(partnerText("sibtel", "nsk", keys(from[0]), accept) + partnerText("neva", "spb", keys(from[1]), accept))
	s.begin()
	for _, a := range from {
		peers = append(peers, s.confirmed(a, patient().message()))
	}
	before = s.resident("RssAnon:")
	begin := time.Now()
	seen, x := make(map[netip.Prefix]bool, count), uint32(1)
	batch := make([]byte, 0, each*4)
	for len(seen) < count {
		x = x*1664525 + 1013904223
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(11 + x>>24%80), byte(x >> 16), byte(x >> 8), 0}), 20+int(x>>4%5)).Masked()
		if seen[p] {
			continue
		}
		seen[p] = true
		batch = append(batch, nlri(p.String())...)
		if n := len(seen); n%each == 0 {
			attributes := join(origin(0), path(64501, 64502+uint32(n/each%20_000), 64502), hop(hopIPv4...))
			if err := peers[n/each%2].send(update(nil, attributes, batch)); err != nil {
				s.t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	for i, p := range peers {
		mark := fmt.Sprintf("120.0.%d.0/24", i)
		if err := p.send(good(mark), ends()); err != nil {
			s.t.Fatal(err)
		}
		rig.Until(s.t, 2*time.Minute, "a partner's", func() string {
			if site := s.site(inside(mark)); site != "nsk" && site != "spb" {
				return site
			}
			return "a partner's"
		})
	}
	s.t.Logf("a million prefixes steer %v after the first was sent", time.Since(begin).Round(time.Millisecond))
	time.Sleep(10 * time.Second) // for what only the building needed to be collected, and the state saved
	return before, peers
}

// patient is a fair OPEN with a long hold time.
func patient() open {
	o := fair()
	o.hold = 600
	return o
}

// resident reads one size from the status of the server's process, in kB.
func (s *server) resident(field string) float64 {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	var size float64
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			if _, err := fmt.Sscan(rest, &size); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return size
}

// report tells how times are distributed.
func report(b *testing.B, all []time.Duration) {
	b.Helper()
	slices.Sort(all)
	at := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1))]) / 1e6 }
	b.ReportMetric(at(0), "ms-least")
	b.ReportMetric(at(0.5), "ms-median")
	b.ReportMetric(at(0.99), "ms-p99")
	b.ReportMetric(at(1), "ms-most")
	b.ReportMetric(0, "ns/op") // the setting up is of no interest
}

// asker asks one server over one socket.
type asker struct {
	t    testing.TB
	conn net.Conn
}

func (s *server) asker() *asker {
	s.t.Helper()
	conn, err := net.Dial("udp", s.dns.String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return &asker{s.t, conn}
}

// site is where a client is sent; "" when no answer came in time.
func (a *asker) site(client string) string {
	a.t.Helper()
	packed, err := question(dns.ClassINET, dns.TypeA, client).Pack()
	if err != nil {
		a.t.Fatal(err)
	}
	_ = a.conn.SetDeadline(time.Now().Add(time.Second)) // a closed socket fails to write
	if _, err := a.conn.Write(packed); err != nil {
		a.t.Fatal(err)
	}
	var b [1500]byte
	for {
		n, err := a.conn.Read(b[:])
		if err != nil {
			return ""
		}
		var m dns.Msg
		if m.Unpack(b[:n]) == nil && m.Id == binary.BigEndian.Uint16(packed) && len(m.Answer) == 1 {
			if answer, ok := m.Answer[0].(*dns.A); ok {
				return sites[answer.A.String()]
			}
		}
	}
}

// until asks, with a rest between, until the client is sent to a site.
func (a *asker) until(client, site string, rest time.Duration) {
	a.t.Helper()
	for end := time.Now().Add(2 * time.Minute); a.site(client) != site; time.Sleep(rest) {
		if time.Now().After(end) {
			a.t.Fatalf("client %s is not sent to %s", client, site)
		}
	}
}

// tap passes one connection on, and notes when the last octets of an UPDATE with routes came.
type tap struct {
	at   netip.AddrPort
	last atomic.Int64 // nanoseconds of Unix time
}

// newTap takes a connection at one address and leads it to another, whose own end it connects from.
func newTap(t testing.TB, at, to netip.AddrPort) *tap {
	t.Helper()
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &tap{at: at}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(at.Addr(), 0))}
			far, err := d.Dial("tcp", to.String())
			if err != nil {
				near.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(far, near) // its end is that of the connection
				far.Close()
			}()
			go func() {
				p.pass(near, far)
				near.Close()
			}()
		}
	}()
	return p
}

// pass copies messages, whole ones as they come.
func (p *tap) pass(to io.Writer, from io.Reader) {
	const endOfRIB = 19 + 4 + 6 // in octets, at most
	b := make([]byte, 1<<20)
	kept := 0
	for {
		n, err := from.Read(b[kept:])
		if err != nil {
			return
		}
		if _, err := to.Write(b[kept : kept+n]); err != nil {
			return
		}
		rest := b[:kept+n]
		for len(rest) >= 19 && len(rest) >= int(binary.BigEndian.Uint16(rest[16:])) {
			length := int(binary.BigEndian.Uint16(rest[16:]))
			if rest[18] == 2 && length > endOfRIB {
				p.last.Store(time.Now().UnixNano())
			}
			rest = rest[length:]
		}
		kept = copy(b, rest)
	}
}
