package health

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// hostility is what an endpoint does to whoever asks.
type hostility struct {
	name string
	do   func(net.Conn)
	page string // how the cause begins of whoever wants a page of it
}

// floods sends the same without end, not caring what is asked.
func floods(begin string, rest []byte) func(net.Conn) {
	return func(c net.Conn) {
		go io.Copy(io.Discard, c)
		io.WriteString(c, begin)
		for {
			if _, err := c.Write(rest); err != nil {
				return
			}
		}
	}
}

// drips sends a byte now and then.
func drips(begin string) func(net.Conn) {
	return func(c net.Conn) {
		go io.Copy(io.Discard, c)
		io.WriteString(c, begin)
		for {
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func hostilities(t testing.TB) []hostility {
	garbage := make([]byte, 64<<10)
	rand.Read(garbage)
	// Frames of HTTP/2: settings that are sound, then a header that never ends, or data that nobody asked for.
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	headers := append([]byte("\x00\x40\x00\x09\x00\x00\x00\x00\x01"), bytes.Repeat([]byte{0x82}, 16<<10)...)
	data := append([]byte("\x00\x40\x00\x00\x00\x00\x00\x00\x01"), make([]byte, 16<<10)...)
	return []hostility{
		{"garbage", func(c net.Conn) { c.Write(garbage[:1000]); hangsOn(c) }, "bad response: not HTTP"},
		{"garbage without end", floods("", garbage), "bad response: not HTTP"},
		{"zeros without end", floods("", make([]byte, 64<<10)), "bad response: not HTTP"},
		{"one byte at a time", drips(""), "bad response: not HTTP"},
		{"one byte of HTTP at a time", drips("HTTP/1.1 200 OK\r\nX: "), "timeout"},
		{"a body of one byte at a time", drips(okHead + "\r\n"), "timeout"},
		{"a huge header", floods("HTTP/1.1 200 OK\r\n", []byte("X-Long: "+strings.Repeat("y", 60<<10)+"\r\n")), "bad response: header over 64 KB"},
		{"a body without end", floods(okHead+"\r\n", bytes.Repeat([]byte("x"), 64<<10)), "body "},
		{"chunks without end", floods(okHead+"Transfer-Encoding: chunked\r\n\r\n", []byte("1;"+strings.Repeat("e", 2000)+"\r\nx\r\n")), "bad response: malformed body"},
		{"settings without end", floods("", []byte(settings)), "bad response: not HTTP"},
		{"a header of HTTP/2 without end", floods(settings+"\x00\x40\x00\x01\x00\x00\x00\x00\x01"+strings.Repeat("\x82", 16<<10), headers), "bad response: not HTTP"},
		{"data that nobody asked for", floods(settings, data), "bad response: not HTTP"},
		{"redirects in a circle", func(c net.Conn) { saysTo(c, "HTTP/1.1 302 Found\r\nLocation: /\r\nConnection: close\r\n\r\n") }, "too many redirects"},
		{"a redirect to nowhere", func(c net.Conn) { saysTo(c, "HTTP/1.1 302 Found\r\nLocation: http://[::\r\nConnection: close\r\n\r\n") }, "bad response: malformed redirect"},
		{"a huge message of DNS", floods("\xff\xff", garbage), "bad response: not HTTP"},
		{"a message of DNS byte by byte", drips("\xff\xff"), "bad response: not HTTP"},
		{"silence", hangsOn, "timeout"},
		{"the end at once", func(net.Conn) {}, "connection "},
		{"the end after the question", func(c net.Conn) { c.Read(make([]byte, 1)) }, "connection "},
	}
}

// knownCauses are all that hostile endpoints may bring an operator to read.
var knownCauses = []string{
	"timeout after 150ms", "connection closed", "connection reset", "too many redirects", "status 302",
	"bad response: not HTTP", "bad response: header over 64 KB", "bad response: malformed header", "bad response: malformed body",
	"bad response: malformed redirect", "bad response: not HTTP/2", "bad response: not DNS", "bad response: to another question",
	"bad response: not gRPC", "bad response: message over 4 KB",
	"tls: not TLS", "tls: handshake failed", `body lacks "healthy"`, `body does not match "healthy"`, `answer lacks "healthy"`, `answer does not match "healthy"`,
}

// TestHostileEndpoints: whatever an endpoint does, it fails within the timeout, for one of a few causes, and
// costs little memory; and nothing is left behind. Whoever wants a page is told what is the matter, and need not wait for it
// until the timeout.
func TestHostileEndpoints(t *testing.T) {
	authority := newCertifier(t)
	config := &tls.Config{NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{authority.sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageServerAuth)}}
	trust, healthy, expression := Trust{Blind: true}, Text{Plain: "healthy"}, Text{Regex: "healthy"}
	ok := mustStatus(t, "200")
	type asking struct {
		kind   Kind
		inside bool // the endpoint speaks TLS, and is hostile inside
		pages  bool // the endpoint is hostile to whoever wants a page
	}
	kinds := []asking{
		{HTTP{Status: ok, Body: healthy, Redirects: 5}, false, true},
		{HTTP{Status: ok, Body: expression, Redirects: 5}, false, true},
		{HTTP{TLS: true, Trust: trust, Status: ok, Body: healthy, Redirects: 5}, true, true},
		{HTTP{TLS: true, Trust: trust, Status: ok, Body: healthy}, false, false},
		{TCP{Send: "ping\r\n", Expect: healthy}, false, false},
		{TCP{Expect: expression}, false, false},
		{TLS{Trust: trust}, false, false},
		{DNS{Name: "ok.test.", Type: dns.TypeA, TCP: true}, false, false},
		{GRPC{Service: "web"}, false, false},
		{GRPC{TLS: true, Trust: trust}, true, false},
		{GRPC{TLS: true, Trust: trust}, false, false},
	}
	before := runtime.NumGoroutine()
	t.Run("all", func(t *testing.T) {
		for _, k := range kinds {
			for _, h := range hostilities(t) {
				t.Run(fmt.Sprintf("%v inside %v/%s", k.kind, k.inside, h.name), func(t *testing.T) {
					at := endpoint(t, "127.0.0.1", func(c *net.TCPConn) {
						if k.inside {
							secured(config, h.do)(c)
							return
						}
						h.do(c)
					})
					timeout, cause := 150*time.Millisecond, ""
					if k.pages {
						cause = h.page
					}
					if cause != "" && cause != "timeout" {
						timeout = time.Minute
					}
					var start, end runtime.MemStats
					runtime.ReadMemStats(&start)
					got := NewOutside().Probe(t.Context(), at.Addr(), Check{Kind: on(at.Port(), k.kind), Timeout: timeout})
					runtime.ReadMemStats(&end)
					if got.OK || !slices.Contains(knownCauses, got.Cause) || !strings.HasPrefix(got.Cause, cause) {
						t.Errorf("ok %v, cause %q, want %q", got.OK, got.Cause, cause)
					}
					if got.Took > 30*time.Second { // a busy machine is late, a probe that hangs is never there
						t.Errorf("took %v", got.Took)
					}
					// All that this process allocates meanwhile is counted: the endpoint's flood, and what the one before
					// still does. A probe without a bound takes as much as comes in 150 ms, which is far more.
					if spent := end.TotalAlloc - start.TotalAlloc; spent > 16<<20 {
						t.Errorf("%d KB were allocated", spent>>10)
					}
				})
			}
		}
	})
	for late := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
