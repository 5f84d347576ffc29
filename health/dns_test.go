package health

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

const nsdConf = `
server:
  ip-address: 127.0.0.1@PORT
  username: ""
  database: ""
  server-count: 1
  zonesdir: "DIR"
  zonelistfile: "DIR/zones"
  xfrdfile: "DIR/xfrd"
  xfrdir: "DIR"
  pidfile: "DIR/pid"
remote-control:
  control-enable: no
zone:
  name: ok.test
  zonefile: ok.test.zone
`

func TestNSD(t *testing.T) {
	folder, port := t.TempDir(), freePorts(t, 1)[0]
	zone := "$ORIGIN ok.test.\n@ 60 SOA ns hostmaster 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\nwww A 192.0.2.1\nwww A 192.0.2.2\n" +
		"@ MX 10 Mail\nm CNAME www\nempty TXT x\n"
	for n := range 40 {
		zone += fmt.Sprintf("big TXT \"%02d %s\"\n", n, strings.Repeat("x", 100))
	}
	write(t, folder, "ok.test.zone", zone)
	conf := strings.NewReplacer("PORT", fmt.Sprint(port), "DIR", folder).Replace(nsdConf)
	serve(t, port, "nsd", "-d", "-c", write(t, folder, "nsd.conf", conf))

	about := func(name, qtype, code string, want ...string) DNS {
		d, key, err := Question(name, qtype, code, want)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		d.Port = port
		return d
	}
	overTCP := func(d DNS) DNS { d.TCP = true; return d }
	ask(t, []asked{
		{"an address", about("www.ok.test", "A", "NOERROR"), ""},
		{"no data is an answer", about("www.ok.test", "AAAA", "NOERROR"), ""},
		{"wanted data", about("www.ok.test", "A", "NOERROR", "192.0.2.2", "192.0.2.1"), ""},
		{"wanted data behind a CNAME", about("M.ok.test", "A", "NOERROR", "192.0.2.2"), ""},
		{"wanted data of many words", about("ok.test", "MX", "NOERROR", "10  Mail.ok.test."), ""},
		{"missing data", about("www.ok.test", "A", "NOERROR", "192.0.2.1", "192.0.2.3"), `answer lacks "192.0.2.3"`},
		{"no such name", about("none.ok.test", "A", "NOERROR"), "rcode NXDOMAIN"},
		{"no such name, as wanted", about("none.ok.test", "A", "NXDOMAIN"), ""},
		{"another's zone", about("other.test", "A", "NOERROR"), "rcode REFUSED"},
		{"over TCP", overTCP(about("www.ok.test", "A", "NOERROR", "192.0.2.1")), ""},
		{"truncated", about("big.ok.test", "TXT", "NOERROR", `"39 `+strings.Repeat("x", 100)+`"`), ""},
		{"truncated, and missing", about("big.ok.test", "TXT", "NOERROR", `"40"`), `answer lacks "\"40\""`},
	})
}

// datagrams is a server that answers each datagram with these.
func datagrams(t testing.TB, answers func(question []byte) [][]byte) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		room := make([]byte, 512)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(room)
			if err != nil {
				return
			}
			for _, answer := range answers(room[:n]) {
				conn.WriteToUDPAddrPort(answer, from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestDNSProbeTellsTheCause(t *testing.T) {
	reply := func(edit func(*dns.Msg)) func([]byte) [][]byte {
		return func(question []byte) [][]byte {
			m := new(dns.Msg)
			if m.Unpack(question) != nil {
				return nil
			}
			m.Response = true
			edit(m)
			packed, _ := m.Pack()
			return [][]byte{packed}
		}
	}
	good := reply(func(*dns.Msg) {})
	for _, c := range []struct {
		name    string
		answers func([]byte) [][]byte
		want    string
	}{
		{"an answer", good, ""},
		{"an answer without the question", reply(func(m *dns.Msg) { m.Question = nil }), ""},
		{"strays before the answer", func(q []byte) [][]byte { return append([][]byte{{0, 0, 1, 2}, {q[0] ^ 1, q[1]}}, good(q)...) }, ""},
		{"strays alone", func(q []byte) [][]byte { return [][]byte{{q[0] ^ 1, q[1], 3}} }, "bad response: to another question"},
		{"strays without end", func(q []byte) [][]byte { return make([][]byte, 2*strays) }, "bad response: not DNS"},
		{"an answer to another name", reply(func(m *dns.Msg) { m.Question[0].Name = "other.test." }), "bad response: to another question"},
		{"the question sent back", func(q []byte) [][]byte { return [][]byte{q} }, "bad response: not DNS"},
		{"garbage", func(q []byte) [][]byte { return [][]byte{append(q[:2:2], "garbage"...)} }, "bad response: not DNS"},
		{"a server that fails", reply(func(m *dns.Msg) { m.Rcode = dns.RcodeServerFailure }), "rcode SERVFAIL"},
		{"silence", func([]byte) [][]byte { return nil }, "timeout after 300ms"},
		{"truncated, without TCP", reply(func(m *dns.Msg) { m.Truncated = true }), "connect refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at := datagrams(t, c.answers)
			for !rig.Hold(t, at) { // for TCP it is to be nobody's
				at = datagrams(t, c.answers)
			}
			check := Check{Kind: DNS{Port: at.Port(), Name: "ok.test.", Type: dns.TypeA}, Timeout: time.Minute}
			switch c.name { // those that last until the timeout
			case "silence":
				check.Timeout = 300 * time.Millisecond
			case "strays alone", "an answer to another name":
				check.Timeout = 4 * time.Second
			}
			if got := NewOutside().Probe(t.Context(), at.Addr(), check); got.Cause != c.want {
				t.Errorf("cause %q, want %q", got.Cause, c.want)
			}
		})
	}
}

func TestRefusedDatagram(t *testing.T) {
	port := rig.Refusing(t, loopback).Port()
	got := NewOutside().Probe(t.Context(), loopback, Check{Kind: DNS{Port: port, Name: "ok.test.", Type: dns.TypeA}, Timeout: time.Minute})
	if got.Cause != "connect refused" {
		t.Errorf("cause %q", got.Cause)
	}
}

// FuzzDNSAnswer: whatever comes, the cause is one of a few.
func FuzzDNSAnswer(f *testing.F) {
	question := new(dns.Msg).SetQuestion("ok.test.", dns.TypeA)
	question.Id = 7
	for _, rr := range []string{"", "ok.test. 1 IN A 192.0.2.1", "ok.test. 1 IN TXT x"} {
		m := new(dns.Msg).SetReply(question)
		if rr != "" {
			record, err := dns.NewRR(rr)
			if err != nil {
				f.Fatal(err)
			}
			m.Answer = []dns.RR{record}
		}
		packed, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	d := DNS{Name: "ok.test.", Type: dns.TypeA, Data: ListOf("192.0.2.1")}
	f.Fuzz(func(t *testing.T, packed []byte) {
		err := d.judge(unpack(packed, question))
		if err == nil || err == errStray {
			return
		}
		switch got := cause(err, Check{}); {
		case got == "bad response: not DNS", got == `answer lacks "192.0.2.1"`:
		case strings.HasPrefix(got, "rcode ") && len(got) < 20:
		default:
			t.Errorf("cause %q", got)
		}
	})
}
