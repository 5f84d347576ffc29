package dns_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
)

// header is what a proxy writes before what comes from a client; without a client it speaks for itself.
func header(client string, more string) string {
	head := "\r\n\r\n\x00\r\nQUIT\n"
	if client == "" {
		return string(binary.BigEndian.AppendUint16([]byte(head+"\x20\x00"), uint16(len(more)))) + more
	}
	a := netip.MustParseAddr(client)
	kind, ports := "\x21\x11", "\x10\x00\x00\x35"
	if a.Is6() {
		kind = "\x21\x21"
	}
	rest := string(a.AsSlice()) + string(a.AsSlice()) + ports + more
	return string(binary.BigEndian.AppendUint16([]byte(head+kind), uint16(len(rest)))) + rest
}

// from is a way to ask: by a transport, from an address, behind what a proxy says.
type from struct {
	over          dns.Transport
	address, head string
	silent        bool // no answer is awaited: what comes has to come soon
}

// patience is how long an answer is waited for.
func (f from) patience() time.Duration {
	switch {
	case !f.silent:
		return time.Minute
	case f.over == dns.UDP:
		return 300 * time.Millisecond
	}
	return 5 * time.Second
}

// dial connects, and says what a proxy says.
func (e *everyDoor) dial(ctx context.Context, f from) (net.Conn, error) {
	local := net.Addr(&net.TCPAddr{IP: net.ParseIP(f.address)})
	network := "tcp"
	if f.over == dns.UDP {
		network, local = "udp", &net.UDPAddr{IP: net.ParseIP(f.address)}
	}
	dialer := net.Dialer{LocalAddr: local, Timeout: time.Minute}
	conn, err := dialer.DialContext(ctx, network, e.at[f.over])
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(f.patience()))
	if f.over != dns.UDP {
		_, err = io.WriteString(conn, f.head)
	}
	return conn, err
}

// through asks, and gives what the reply shows; "silence" without one.
func (e *everyDoor) through(t *testing.T, f from, words string) string {
	t.Helper()
	packet, _ := question(t, words)
	reply, err := e.exchange(t, f, packet)
	m := new(mdns.Msg)
	if err != nil || m.Unpack(reply) != nil {
		return "silence"
	}
	return show(m)
}

func (e *everyDoor) exchange(t *testing.T, f from, packet []byte) ([]byte, error) {
	t.Helper()
	if f.over == dns.HTTPS {
		transport := &http.Transport{
			TLSClientConfig: trusting("h2"), ForceAttemptHTTP2: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return e.dial(ctx, f) },
		}
		defer transport.CloseIdleConnections()
		client := http.Client{Transport: transport, Timeout: f.patience()}
		resp, err := client.Post("https://"+e.at[dns.HTTPS]+"/dns-query", "application/dns-message", bytes.NewReader(packet))
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		return io.ReadAll(resp.Body)
	}
	conn, err := e.dial(t.Context(), f)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	switch f.over {
	case dns.UDP:
		if _, err := io.WriteString(conn, f.head+string(packet)); err != nil {
			return nil, err
		}
		room := make([]byte, 65535)
		n, err := conn.Read(room)
		return room[:n], err
	case dns.TLS:
		conn = tls.Client(conn, trusting("dot"))
	}
	if _, err := conn.Write(framed(packet)); err != nil {
		return nil, err
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	reply := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err = io.ReadFull(conn, reply)
	return reply, err
}

const proxied = "server: {proxies: [127.7.0.0/16], rate_limit: {answers: 5, slip: 0}, "

// Who is behind a proxy is the client: it is steered, bounded and told the reasons as if it had come itself.
func TestProxiesSpeakForClients(t *testing.T) {
	e := serveAll(t, strings.Replace(text, "server: {", proxied, 1))
	for _, over := range []dns.Transport{dns.UDP, dns.TCP, dns.TLS, dns.HTTPS} {
		for _, tc := range []struct{ name, address, head, want string }{
			{"a partner's client", "127.7.0.1", header("203.0.113.9", ""), "A 198.51.100."},
			{"another client, with more behind its address", "127.7.255.1", header("198.18.0.1", "\x04\x00\x01x"), "A 192.0.2.1"},
			{"a client by IPv6", "127.7.0.1", header("2001:db9::1", ""), "A 192.0.2.1"},
			{"the proxy itself", "127.7.0.1", header("", ""), "A 192.0.2.1"},
			{"nobody named", "127.7.0.1", "", "silence"},
			{"half a header", "127.7.0.1", header("203.0.113.9", "")[:10], "silence"},
			{"a header of another version", "127.7.0.1", "PROXY TCP4 203.0.113.9 127.0.0.1 4096 53\r\n", "silence"},
			{"who is no proxy", "127.8.0.1", "", "A 192.0.2.1"},
		} {
			t.Run(fmt.Sprintf("%s over %v", tc.name, over), func(t *testing.T) {
				t.Parallel() // silence takes its time
				if got := e.through(t, from{over, tc.address, tc.head, tc.want == "silence"}, "cdn.ok.test. A"); !strings.Contains(got, tc.want) {
					t.Errorf("%s, want %s", got, tc.want)
				}
			})
		}
		t.Run(fmt.Sprintf("a header of nobody's proxy over %v", over), func(t *testing.T) {
			t.Parallel()
			// It is what it is to DNS: nothing that could be answered.
			if got := e.through(t, from{over, "127.8.0.1", header("203.0.113.9", ""), true}, "cdn.ok.test. A"); strings.Contains(got, "A 198.51.100.") || strings.HasPrefix(got, "NOERROR") {
				t.Error(got)
			}
		})
		if got := e.through(t, from{over, "127.7.0.1", header("198.18.0.1", ""), false}, "cdn.ok.test. TXT CH"); got != "REFUSED\n" {
			t.Errorf("reasons for a stranger behind a proxy over %v: %s", over, got)
		}
		if got := e.through(t, from{over, "127.7.0.1", header("127.0.0.5", ""), false}, "cdn.ok.test. TXT CH"); !strings.Contains(got, "client=127.0.0.5 via=source") {
			t.Errorf("reasons for who may ask behind a proxy over %v: %s", over, got)
		}
	}
}

// Clients of one proxy are bounded one by one, not together: the first has all the answers that there are for one, and
// another is answered all the same. A busy machine may take so long that there are more, or lose none: then others are
// asked.
func TestClientsOfAProxyAreLimitedOneByOne(t *testing.T) {
	e := serveAll(t, strings.Replace(text, "server: {", proxied, 1))
	answered := func(client string) (n int) {
		for range 8 {
			if e.through(t, from{dns.UDP, "127.7.0.1", header(client, ""), true}, "www.ok.test. A") != "silence" {
				n++
			}
		}
		return n
	}
	for try := range 20 {
		first, next := answered(fmt.Sprintf("192.88.%d.1", 2*try)), answered(fmt.Sprintf("192.88.%d.1", 2*try+1))
		if first <= 7 && next >= 5 {
			return
		}
		t.Logf("try %d: of 8 questions of one client %d were answered, and of the next %d", try, first, next)
	}
	t.Error("one client is not bounded, or the next one is bounded with it")
}

// One connection is one client's, for all of its questions.
func TestAProxiedConnectionIsOneClients(t *testing.T) {
	e := serveAll(t, strings.Replace(text, "server: {", proxied, 1))
	conn, err := e.dial(t.Context(), from{dns.TCP, "127.7.0.1", header("203.0.113.9", ""), false})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	packet, _ := question(t, "cdn.ok.test. A")
	for range 3 {
		if got := overTCP(t, conn, packet); !strings.Contains(got, "A 198.51.100.") {
			t.Errorf("got %s", got)
		}
	}
}
