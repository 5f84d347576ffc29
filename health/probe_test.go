package health

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb/test/rig"
)

// endpoint is a listener on a loopback address, each connection of which is served by serve and then
// closed. The test waits for all of them.
func endpoint(t testing.TB, ip string, serve func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(ip), 0)))
	if err != nil {
		t.Skipf("no listener on %s here: %v", ip, err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.AcceptTCP()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// says reads one request and sends the text.
func says(text string) func(*net.TCPConn) {
	return func(c *net.TCPConn) { saysTo(c, text) }
}

func saysTo(c net.Conn, text string) {
	http.ReadRequest(bufio.NewReader(c))
	io.WriteString(c, text)
}

// goesOn reads one request, sends the beginning and then the rest again and again until the other
// side has had enough.
func goesOn(begin, rest string, pause time.Duration) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		says(begin)(c)
		for {
			if _, err := io.WriteString(c, rest); err != nil {
				return
			}
			time.Sleep(pause)
		}
	}
}

// hangs says nothing until the other side closes.
func hangs(c *net.TCPConn) { hangsOn(c) }

func hangsOn(c net.Conn) { io.Copy(io.Discard, c) }

func resets(c *net.TCPConn) {
	http.ReadRequest(bufio.NewReader(c))
	c.SetLinger(0)
}

const okHead = "HTTP/1.1 200 OK\r\nConnection: close\r\n"

// on is the kind with another port.
func on(port uint16, k Kind) Kind {
	switch k := k.(type) {
	case HTTP:
		k.Port = port
		return k
	case TCP:
		k.Port = port
		return k
	case TLS:
		k.Port = port
		return k
	case DNS:
		k.Port = port
		return k
	case GRPC:
		k.Port = port
		return k
	}
	return k
}

func TestProbeTellsTheCause(t *testing.T) {
	const page = okHead + "\r\nall is OK here"
	http200 := HTTP{Path: "/ping", Status: mustStatus(t, "200-299")}
	with := func(edit func(*HTTP)) HTTP {
		c := http200
		edit(&c)
		return c
	}
	wantsOK := with(func(h *HTTP) { h.Body.Plain = "OK" })
	tcp := TCP{}
	byteByByte := goesOn("HTTP/1.1 200 OK\r\n", "x", 20*time.Millisecond)
	for _, c := range []struct {
		name  string
		kind  Kind
		serve func(*net.TCPConn)
		want  string // the cause; empty: a success
	}{
		{"tcp connects", tcp, func(*net.TCPConn) {}, ""},
		{"tcp does not ask a hanging one", tcp, hangs, ""},
		{"good page", http200, says(page), ""},
		{"HTTP/1.0", http200, says("HTTP/1.0 200 OK\r\n\r\n"), ""},
		{"no text is wanted", http200, says("HTTP/1.1 204 No Content\r\n\r\n"), ""},
		{"interim answers are passed over", http200, says("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + page), ""},
		{"wanted text", wantsOK, says(page), ""},
		{"wanted text in chunks", wantsOK, says(okHead + "Transfer-Encoding: chunked\r\n\r\n1\r\nO\r\n1\r\nK\r\n0\r\n\r\n"), ""},
		{"wanted text before an endless rest", wantsOK, goesOn(page, "x", 20*time.Millisecond), ""},
		{"endless body that nobody wants", http200, goesOn(okHead+"\r\n", strings.Repeat("x", 1<<16), 0), ""},
		{"wanted status", with(func(h *HTTP) { h.Status = mustStatus(t, "503") }), says("HTTP/1.1 503 No\r\n\r\n"), ""},

		{"unwanted status", http200, says("HTTP/1.1 503 No\r\n\r\n"), "status 503"},
		{"redirect", http200, says("HTTP/1.1 302 Found\r\nLocation: /ping\r\n\r\n"), "status 302"},
		{"switched protocols", http200, says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), "status 101"},
		{"no wanted status", with(func(h *HTTP) { h.Status = StatusSet{} }), says(page), "status 200"},
		{"missing text", wantsOK, says(okHead + "\r\nall is bad"), `body lacks "OK"`},
		{"no body", wantsOK, says("HTTP/1.1 204 No Content\r\n\r\n"), `body lacks "OK"`},
		{"text behind the first 64 KB", wantsOK, says(okHead + "\r\n" + strings.Repeat("x", answerMax-1) + "OK"), `body lacks "OK"`},
		{"endless body", wantsOK, goesOn(okHead+"\r\n", strings.Repeat("x", 1<<16), 0), `body lacks "OK"`},
		{"text over an edge of reads", wantsOK, says(okHead + "\r\n" + strings.Repeat("x", answerMax-2) + "OK"), ""},
		{"body cut short", wantsOK, says(okHead + "Content-Length: 100\r\n\r\nall"), "connection closed"},
		{"broken chunk", wantsOK, says(okHead + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "bad response: malformed body"},
		{"body byte by byte", wantsOK, goesOn(okHead+"\r\n", "x", 20*time.Millisecond), "timeout after 300ms"},
		{"head byte by byte", http200, byteByByte, "timeout after 300ms"},
		{"endless header", http200, goesOn("HTTP/1.1 200 OK\r\n", "a: b\r\n", 0), "bad response: header over 64 KB"},
		{"endless header line", http200, goesOn("HTTP/1.1 200 OK\r\na: ", strings.Repeat("b", 4096), 0), "bad response: header over 64 KB"},
		{"endless interim answers", http200, goesOn("", "HTTP/1.1 100 Continue\r\n\r\n", 0), "bad response: header over 64 KB"},
		{"hanging", http200, hangs, "timeout after 300ms"},
		{"reset", http200, resets, "connection reset"},
		{"closed without a word", http200, says(""), "connection closed"},
		{"closed in the header", http200, says("HTTP/1.1 200 OK\r\na: b"), "connection closed"},
		{"closed in the first word", http200, says("HT"), "connection closed"},
		{"another protocol", http200, says("220 mail.ok.test ESMTP\r\n"), "bad response: not HTTP"},
		{"HTTP/2 frames", http200, says("\x00\x00\x12\x04\x00\x00\x00\x00\x00"), "bad response: not HTTP"},
		{"garbage for a status", http200, says("HTTP/1.1 \x00\xff\r\n\r\n"), "bad response: malformed header"},
		{"garbage for a header", http200, says("HTTP/1.1 200 OK\r\n\x00\x01\x02\r\n\r\n"), "bad response: malformed header"},
		{"a control character in a field", http200, says("HTTP/1.1 200 OK\r\na: b\x00c\r\n\r\n"), "bad response: malformed header"},
		{"the control character that is no letter", http200, says("HTTP/1.1 200 OK\r\na: b\x7fc\r\n\r\n"), "bad response: malformed header"},
		{"bad path", with(func(h *HTTP) { h.Path = "ping" }), hangs, "the path of the check is not one"},
		{"bad method", with(func(h *HTTP) { h.Method = "GET /\r\n" }), hangs, "the method of the check is not one"},
		{"no kind", nil, hangs, "no probe of this kind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, ip := range []string{"127.0.0.1", "::1"} {
				at := endpoint(t, ip, c.serve)
				check := Check{Kind: on(at.Port(), c.kind), Timeout: 300 * time.Millisecond}
				most := 5 * time.Second
				if !strings.HasPrefix(c.want, "timeout") {
					check.Timeout, most = time.Minute, time.Minute
				}
				got := NewOutside().Probe(t.Context(), at.Addr(), check)
				if got.OK != (c.want == "") || got.Cause != c.want {
					t.Errorf("on %s: ok %v, cause %q, want cause %q", ip, got.OK, got.Cause, c.want)
				}
				if got.Took <= 0 || got.Took > most {
					t.Errorf("on %s: took %v", ip, got.Took)
				}
			}
		})
	}
}

func TestRefusedPort(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "::1"} {
		if l, err := net.Listen("tcp", net.JoinHostPort(ip, "0")); err != nil {
			t.Skipf("no listener on %s here: %v", ip, err)
		} else {
			l.Close()
		}
		at := rig.Refusing(t, netip.MustParseAddr(ip))
		for _, kind := range []Kind{HTTP{}, HTTP{TLS: true}, TCP{}, TLS{}, DNS{TCP: true, Name: "."}, GRPC{}} {
			got := NewOutside().Probe(t.Context(), at.Addr(), Check{Kind: on(at.Port(), kind), Timeout: time.Minute})
			if got.OK || got.Cause != "connect refused" {
				t.Errorf("%v on %s: %+v, want the cause %q", kind, ip, got, "connect refused")
			}
		}
	}
}

func TestProbeWithoutAnAddressOrTimeIsAFailure(t *testing.T) {
	at := endpoint(t, "127.0.0.1", hangs)
	for name, got := range map[string]Result{
		"no address": NewOutside().Probe(t.Context(), netip.Addr{}, Check{Kind: TCP{Port: 80}, Timeout: time.Second}),
		"no timeout": NewOutside().Probe(t.Context(), at.Addr(), Check{Kind: TCP{Port: at.Port()}}),
	} {
		if got.OK || got.Cause == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCancelledProbeEndsAtOnce(t *testing.T) {
	accepted := make(chan bool, 1)
	at := endpoint(t, "127.0.0.1", func(c *net.TCPConn) {
		accepted <- true
		hangs(c)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-accepted
		cancel()
	}()
	got := NewOutside().Probe(ctx, at.Addr(), Check{Kind: HTTP{Port: at.Port()}, Timeout: time.Minute})
	if got.OK || got.Cause != "cancelled" || got.Took > 30*time.Second {
		t.Errorf("%+v, want cancelled at once", got)
	}
}

// TestRequest holds what the endpoint gets to see.
func TestRequest(t *testing.T) {
	t.Setenv("http_proxy", "http://127.0.0.1:1") // would fail if it were used
	for _, c := range []struct {
		name, ip string
		kind     HTTP
		want     string // with PORT for the port
	}{
		{"nothing said", "127.0.0.1", HTTP{}, "GET / HTTP/1.1 127.0.0.1:PORT"},
		{"IPv6", "::1", HTTP{}, "GET / HTTP/1.1 [::1]:PORT"},
		{"all said", "127.0.0.1", HTTP{Method: "HEAD", Path: "/ping?a=b%20c", Host: "www.ok.test"}, "HEAD /ping?a=b%20c HTTP/1.1 www.ok.test"},
		{"a path of two slashes", "127.0.0.1", HTTP{Path: "//ping"}, "GET //ping HTTP/1.1 127.0.0.1:PORT"},
		{"a port in the host", "127.0.0.1", HTTP{Host: "www.ok.test:8080"}, "GET / HTTP/1.1 www.ok.test:8080"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make(chan string, 1)
			at := endpoint(t, c.ip, func(conn *net.TCPConn) {
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					got <- err.Error()
					return
				}
				if r.UserAgent() != userAgent || !r.Close {
					t.Errorf("user agent %q, close %v", r.UserAgent(), r.Close)
				}
				got <- fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Proto, " ", r.Host)
				io.WriteString(conn, okHead+"\r\n")
			})
			c.kind.Port, c.kind.Status = at.Port(), mustStatus(t, "200")
			if r := NewOutside().Probe(t.Context(), at.Addr(), Check{Kind: c.kind, Timeout: 10 * time.Second}); !r.OK {
				t.Errorf("cause %q", r.Cause)
			}
			if got, want := <-got, strings.ReplaceAll(c.want, "PORT", fmt.Sprint(at.Port())); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestHundredHangingEndpointsDelayNoHealthyOne(t *testing.T) {
	hanging := endpoint(t, "127.0.0.1", hangs)
	healthy := endpoint(t, "127.0.0.1", says(okHead+"\r\n"))
	at := func(a netip.AddrPort, host string, timeout time.Duration) Target {
		return Target{Address: a.Addr(), Name: "web", Check: Check{
			Kind:     HTTP{Port: a.Port(), Host: host, Status: mustStatus(t, "200")},
			Interval: 200 * time.Millisecond, Timeout: timeout, Window: 20, Fall: 10, Rise: 20,
		}}
	}
	// One after another, 100 timeouts would make 20 probes of the healthy one take minutes.
	targets := []Target{at(healthy, "", 20*time.Second)}
	for n := range 100 {
		targets = append(targets, at(hanging, fmt.Sprint("h", n), 200*time.Millisecond))
	}
	b := NewBoard()
	r := NewRunner(b, NewOutside().Probe, slog.New(slog.DiscardHandler))
	r.Apply(targets)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	done := func(e Endpoint) bool { return !e.Serving() || e.Succeeding == 20 }
	for late := time.After(2 * time.Minute); count(b.Latest(), done) < len(targets); {
		select {
		case <-b.Changed():
		case <-late:
			t.Fatalf("after two minutes only %d of %d endpoints are withdrawn or probed 20 times", count(b.Latest(), done), len(targets))
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if e := b.Latest().Endpoint(targets[0].Key()); e.Failed > 0 || !e.Serving() {
		t.Errorf("the healthy one is %+v", e)
	}
	if got := count(b.Latest(), func(e Endpoint) bool { return !e.Serving() && e.Cause == "timeout after 200ms" }); got != 100 {
		t.Errorf("%d hanging ones are withdrawn for their timeout, want 100", got)
	}
}

// count is the number of endpoints that are like this.
func count(r *Report, like func(Endpoint) bool) (n int) {
	for _, e := range r.All() {
		if like(e) {
			n++
		}
	}
	return n
}
