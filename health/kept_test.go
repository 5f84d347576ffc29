package health

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const keepingConf = `
daemon off; master_process off; pid PID; error_log stderr;
events {}
http {
  access_log off; client_body_temp_path TMP; proxy_temp_path TMP; fastcgi_temp_path TMP; uwsgi_temp_path TMP; scgi_temp_path TMP;
  server { listen 127.0.0.1:LONG; location = / { return 200 "request $connection_requests.\n"; } location = /bad { return 503; } }
  server { listen 127.0.0.1:SHORT; keepalive_timeout 100ms; location = / { return 200 "request $connection_requests.\n"; } }
  server { listen 127.0.0.1:FEW; keepalive_requests 2; location = / { return 200 "request $connection_requests.\n"; } }
  server { listen 127.0.0.1:SECURE ssl; ssl_certificate CERT; ssl_certificate_key KEY; location = / { return 200 "request $connection_requests.\n"; } }
}`

// keeping is an outside that probes one endpoint with keepalive, as a test tells it to.
type keeping struct {
	*testing.T
	*Outside
	page HTTP
}

// keep begins to probe with keepalive.
func keep(t *testing.T, page HTTP) keeping {
	o := NewOutside()
	t.Cleanup(func() { o.Retain(nil) })
	page.Keep, page.Status = true, mustStatus(t, "200")
	return keeping{t, o, page}
}

// wants probes, and wants the answer to hold the text.
func (k keeping) wants(text string) {
	k.Helper()
	page := k.page
	page.Body.Plain = text
	// The connection is one of the check, so that the texts stand in checks of their own.
	k.kept.mu.Lock()
	for at, c := range k.kept.idle {
		delete(k.kept.idle, at)
		at.errand.kind = page
		k.kept.idle[at] = c
	}
	k.kept.mu.Unlock()
	if got := k.Probe(k.Context(), loopback, Check{Kind: page, Timeout: time.Minute}); !got.OK {
		k.Errorf("cause %q", got.Cause)
	}
}

// idle is how many connections are kept.
func (k keeping) idle() int {
	k.kept.mu.Lock()
	defer k.kept.mu.Unlock()
	return len(k.kept.idle)
}

// ended waits until the endpoint has closed what is kept.
func (k keeping) ended() {
	k.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		k.kept.mu.Lock()
		quiet := 0
		for _, c := range k.kept.idle {
			if c.quiet() {
				quiet++
			}
		}
		k.kept.mu.Unlock()
		if quiet == 0 {
			return
		}
		if time.Now().After(late) {
			k.Fatal("the endpoint has not closed the connection")
		}
	}
}

func TestKeepaliveWithNginx(t *testing.T) {
	folder, authority := t.TempDir(), newCertifier(t)
	ca := authority.file(t, folder)
	cert, key := files(t, folder, "server", authority.sign(t, -time.Hour, 10*24*time.Hour, x509.ExtKeyUsageServerAuth))
	ports := freePorts(t, 4)
	long, short, few, secure := ports[0], ports[1], ports[2], ports[3]
	conf := strings.NewReplacer("PID", folder+"/pid", "TMP", folder, "LONG", fmt.Sprint(long), "SHORT", fmt.Sprint(short),
		"FEW", fmt.Sprint(few), "SECURE", fmt.Sprint(secure), "CERT", cert, "KEY", key).Replace(keepingConf)
	serve(t, secure, "nginx", "-p", folder, "-e", "stderr", "-c", write(t, folder, "nginx.conf", conf))
	on := func(t *testing.T, edit func(*HTTP)) keeping {
		k := keep(t, HTTP{Port: long})
		edit(&k.page)
		return k
	}
	t.Run("one connection for all probes", func(t *testing.T) {
		k := on(t, func(*HTTP) {})
		for n := range 5 {
			k.wants(fmt.Sprintf("request %d.", n+1))
		}
	})
	t.Run("inside TLS", func(t *testing.T) {
		k := on(t, func(h *HTTP) { h.TLS, h.Port, h.Trust.CA = true, secure, ca })
		for n := range 5 {
			k.wants(fmt.Sprintf("request %d.", n+1))
		}
	})
	t.Run("a new connection is the default", func(t *testing.T) {
		k := on(t, func(h *HTTP) { h.Keep = false })
		k.wants("request 1.")
		k.wants("request 1.")
	})
	t.Run("nginx closes before the next probe", func(t *testing.T) {
		k := on(t, func(h *HTTP) { h.Port = short })
		for range 3 {
			k.wants("request 1.")
			k.ended()
		}
	})
	t.Run("nginx says that it will close", func(t *testing.T) {
		k := on(t, func(h *HTTP) { h.Port = few })
		for _, n := range []int{1, 2, 1, 2} {
			k.wants(fmt.Sprintf("request %d.", n))
		}
	})
	t.Run("a failure is not kept", func(t *testing.T) {
		k := on(t, func(h *HTTP) { h.Path = "/bad" })
		got := k.Probe(t.Context(), loopback, Check{Kind: k.page, Timeout: time.Minute})
		if got.Cause != "status 503" || k.idle() != 0 {
			t.Errorf("cause %q, %d kept", got.Cause, k.idle())
		}
	})
	t.Run("the check leaves", func(t *testing.T) {
		k := on(t, func(*HTTP) {})
		k.wants("request 1.")
		k.Retain([]Target{{Address: loopback, Check: Check{Kind: HTTP{Port: long}}}})
		if k.idle() != 0 {
			t.Error("the connection of a check that left is kept")
		}
		k.wants("request 1.") // as a probe in flight might
		if k.idle() != 0 {
			t.Error("a connection is kept for a check that has left")
		}
	})
}

// ending is an endpoint that answers as many requests on a connection as it is told, and does then what it is
// told with the next.
func ending(t *testing.T, answers int, then func(*net.TCPConn, *bufio.Reader)) (netip.AddrPort, *atomic.Int64) {
	connections := new(atomic.Int64)
	return endpoint(t, "127.0.0.1", func(c *net.TCPConn) {
		connections.Add(1)
		r := bufio.NewReader(c)
		for range answers {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
		}
		then(c, r)
	}), connections
}

func TestKeptConnectionThatEnds(t *testing.T) {
	reads := func(r *bufio.Reader) { http.ReadRequest(r) }
	for _, c := range []struct {
		name   string
		then   func(*net.TCPConn, *bufio.Reader)
		idle   bool   // it ends while no probe is in flight
		want   string // the cause at the second probe
		opened int64
	}{
		{"between two requests", func(*net.TCPConn, *bufio.Reader) {}, true, "", 2},
		{"at the next request", func(_ *net.TCPConn, r *bufio.Reader) { reads(r) }, false, "", 2},
		{"with a reset", func(c *net.TCPConn, r *bufio.Reader) { reads(r); c.SetLinger(0) }, false, "", 2},
		{"with words that nobody asked for", func(c *net.TCPConn, r *bufio.Reader) {
			io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
			hangs(c)
		}, true, "", 2},
		{"within the answer", func(c *net.TCPConn, r *bufio.Reader) { reads(r); io.WriteString(c, "HTTP/1.1 2") }, false, "connection closed", 1},
		{"never, but hangs", func(c *net.TCPConn, r *bufio.Reader) { reads(r); hangs(c) }, false, "timeout after 300ms", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at, opened := ending(t, 1, c.then)
			k := keep(t, HTTP{Port: at.Port()})
			k.wants("OK")
			if c.idle {
				k.ended()
			}
			k.page.Body.Plain = "OK"
			check := Check{Kind: k.page, Timeout: 300 * time.Millisecond}
			if !strings.HasPrefix(c.want, "timeout") {
				check.Timeout = time.Minute
			}
			if got := k.Probe(t.Context(), loopback, check); got.Cause != c.want {
				t.Errorf("cause %q, want %q", got.Cause, c.want)
			}
			if got := opened.Load(); got != c.opened {
				t.Errorf("%d connections were opened, want %d", got, c.opened)
			}
		})
	}
}

// A fresh connection that ends as the kept one did is a failure.
func TestStaleConnectionIsReplacedOnce(t *testing.T) {
	var connections atomic.Int64
	at := endpoint(t, "127.0.0.1", func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		if connections.Add(1) == 1 {
			http.ReadRequest(r)
			io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		}
		http.ReadRequest(r)
	})
	o, check := NewOutside(), Check{Kind: HTTP{Port: at.Port(), Keep: true, Status: mustStatus(t, "204")}, Timeout: time.Minute}
	for _, want := range []string{"", "connection closed", "connection closed"} {
		if got := o.Probe(t.Context(), loopback, check); got.Cause != want {
			t.Errorf("cause %q, want %q", got.Cause, want)
		}
	}
	if connections.Load() != 3 {
		t.Errorf("%d connections, want 3", connections.Load())
	}
}

func TestKeptConnectionsAreBounded(t *testing.T) {
	at, _ := ending(t, 2, func(c *net.TCPConn, _ *bufio.Reader) { hangs(c) })
	o := NewOutside()
	o.kept.most = 3
	for n := range 5 {
		page := HTTP{Port: at.Port(), Host: fmt.Sprint("h", n), Keep: true, Status: mustStatus(t, "200")}
		if got := o.Probe(t.Context(), loopback, Check{Kind: page, Timeout: time.Minute}); !got.OK {
			t.Error(got.Cause)
		}
	}
	if len(o.kept.idle) != 3 {
		t.Errorf("%d are kept, want 3", len(o.kept.idle))
	}
	o.Retain(nil)
}

// A connection ends with its age, and with the certificate that it was opened for.
func TestKeptConnectionGrowsOld(t *testing.T) {
	at, opened := ending(t, 10, func(c *net.TCPConn, _ *bufio.Reader) { hangs(c) })
	k := keep(t, HTTP{Port: at.Port()})
	k.wants("OK")
	for _, c := range k.kept.idle {
		if left := time.Until(c.until); left > channelAge || left < channelAge-time.Minute {
			t.Errorf("it is kept for %v, want %v", left, channelAge)
		}
		c.until = time.Now()
	}
	k.wants("OK")
	if opened.Load() != 2 {
		t.Errorf("%d connections, want 2", opened.Load())
	}
}

// A probe that is cut short leaves no connection behind that another could take.
func TestCancelledProbeKeepsNothing(t *testing.T) {
	asked := make(chan bool, 1)
	at, _ := ending(t, 1, func(c *net.TCPConn, r *bufio.Reader) { http.ReadRequest(r); asked <- true; hangs(c) })
	k := keep(t, HTTP{Port: at.Port()})
	k.wants("OK")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	k.page.Body.Plain = "OK"
	if got := k.Probe(ctx, loopback, Check{Kind: k.page, Timeout: time.Minute}); got.OK || k.idle() != 0 {
		t.Errorf("%+v, %d kept", got, k.idle())
	}
}
