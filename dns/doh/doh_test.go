package doh

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// certificate is a new one, that nobody has to believe.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// served runs a server whose replies are its messages behind "re: ", for 300 seconds; a message "no" is none.
func served(t *testing.T, change func(*Server)) (base string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		Path: func() string { return "/dns-query" }, TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}},
		Longest: 64, Idle: 5 * time.Second, Write: 5 * time.Second,
		Answer: func(conn net.Conn, message []byte) ([]byte, time.Duration) {
			if _, ok := conn.(*net.TCPConn); !ok {
				t.Errorf("the connection is a %T, which the listener did not give", conn)
			}
			if string(message) == "no" {
				return nil, 0
			}
			return append([]byte("re: "), message...), 300 * time.Second
		},
	}
	if change != nil {
		change(s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "https://" + l.Addr().String()
}

// client speaks HTTP/2, or only HTTP/1.1.
func client(t *testing.T, two bool) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: two}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

func TestRequests(t *testing.T) {
	base := served(t, nil)
	long := strings.Repeat("x", 65)
	for _, tc := range []struct {
		name, method, path, media, body string
		status                          int
		want                            string // "": of no matter
	}{
		{"posted", "POST", "/dns-query", "application/dns-message", "abc", 200, "re: abc"},
		{"posted with a parameter of the media type", "POST", "/dns-query", "Application/DNS-Message; x=1", "abc", 200, "re: abc"},
		{"as long as can be", "POST", "/dns-query", "application/dns-message", long[:64], 200, "re: " + long[:64]},
		{"in the URL", "GET", "/dns-query?dns=YWJj", "", "", 200, "re: abc"},
		{"in the URL, with a letter of its own", "GET", "/dns-query?dns=Pz8_", "", "", 200, "re: ???"},
		{"beside other parameters", "GET", "/dns-query?ct&dns=YWJj", "", "", 200, "re: abc"},
		{"only the head", "HEAD", "/dns-query?dns=YWJj", "", "", 200, ""},
		{"what is no request", "POST", "/dns-query", "application/dns-message", "no", 400, ""},
		{"nothing in the URL", "GET", "/dns-query", "", "", 400, ""},
		{"twice in the URL", "GET", "/dns-query?dns=YWJj&dns=YWJj", "", "", 400, ""},
		{"padded", "GET", "/dns-query?dns=YWI=", "", "", 400, ""},
		{"not of base64", "GET", "/dns-query?dns=%00%00", "", "", 400, ""},
		{"of the other base64", "GET", "/dns-query?dns=Pz8/", "", "", 400, ""},
		{"elsewhere", "GET", "/?dns=YWJj", "", "", 404, ""},
		{"below", "POST", "/dns-query/", "application/dns-message", "abc", 404, ""},
		{"by another method", "PUT", "/dns-query", "application/dns-message", "abc", 405, ""},
		{"of no media type", "POST", "/dns-query", "", "abc", 415, ""},
		{"of another media type", "POST", "/dns-query", "application/dns-json", "abc", 415, ""},
		{"of a form", "POST", "/dns-query", "application/x-www-form-urlencoded", "dns=YWJj", 415, ""},
		{"too long", "POST", "/dns-query", "application/dns-message", long, 413, ""},
		{"too long in the URL", "GET", "/dns-query?dns=" + strings.Repeat("YWJj", 22), "", "", 414, ""},
		{"far too long in the URL", "GET", "/dns-query?dns=" + strings.Repeat("YWJj", 6<<10), "", "", 431, ""},
	} {
		for _, two := range []bool{true, false} {
			if two && tc.status == http.StatusRequestHeaderFieldsTooLarge {
				continue // there the connection ends: what packs heads cannot go on
			}
			req, err := http.NewRequestWithContext(t.Context(), tc.method, base+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if tc.media != "" {
				req.Header.Set("Content-Type", tc.media)
			}
			resp, err := client(t, two).Do(req)
			if err != nil {
				t.Errorf("%s: %.200v", tc.name, err)
				continue
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != tc.status || tc.want != "" && string(body) != tc.want || (resp.ProtoMajor == 2) != two {
				t.Errorf("%s: %s %s %q, want %d %q", tc.name, resp.Proto, resp.Status, body, tc.status, tc.want)
			}
			checkHeader(t, tc.name, resp)
		}
	}
}

func checkHeader(t *testing.T, name string, resp *http.Response) {
	t.Helper()
	media, keep := resp.Header.Get("Content-Type"), resp.Header.Get("Cache-Control")
	switch {
	case resp.StatusCode == http.StatusOK:
		if media != "application/dns-message" || keep != "private, max-age=300" {
			t.Errorf("%s: a %s, kept %s", name, media, keep)
		}
	case resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge && keep != "no-store":
		t.Errorf("%s: a refusal may be kept: %q", name, keep)
	case resp.StatusCode == http.StatusMethodNotAllowed && resp.Header.Get("Allow") != "GET, HEAD, POST":
		t.Errorf("%s: allowed is %q", name, resp.Header.Get("Allow"))
	}
}

// The path is looked up for each request: a reload may change it.
func TestPathMayChange(t *testing.T) {
	var path atomic.Value
	path.Store("/one")
	base := served(t, func(s *Server) { s.Path = func() string { return path.Load().(string) } })
	c := client(t, true)
	for _, want := range []string{"/one", "/two"} {
		path.Store(want)
		for _, asked := range []string{"/one", "/two"} {
			resp, err := c.Post(base+asked, mediaType, strings.NewReader("abc"))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if (resp.StatusCode == http.StatusOK) != (asked == want) {
				t.Errorf("at %s: %s gives %s", want, asked, resp.Status)
			}
		}
	}
}

// Neither a body nor a handshake nor a head that does not come keeps anything for long.
func TestSlowClientsAreLeft(t *testing.T) {
	base := served(t, func(s *Server) { s.Idle, s.Write = 200*time.Millisecond, 100*time.Millisecond })
	address := strings.TrimPrefix(base, "https://")
	config := &tls.Config{InsecureSkipVerify: true}
	for name, say := range map[string]func(net.Conn) error{
		"no handshake": func(net.Conn) error { return nil },
		"no head":      func(c net.Conn) error { return tls.Client(c, config).Handshake() },
		"no body": func(c net.Conn) error {
			_, err := io.WriteString(tls.Client(c, config), "POST /dns-query HTTP/1.1\r\nHost: x\r\nContent-Type: application/dns-message\r\nContent-Length: 50\r\n\r\nabc")
			return err
		},
		"nothing more": func(c net.Conn) error {
			_, err := io.WriteString(tls.Client(c, config), "GET /dns-query?dns=YWJj HTTP/1.1\r\nHost: x\r\n\r\n")
			return err
		},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := say(conn); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection is not ended: %v", name, err)
		}
	}
}

// A connection ends with the server, and what is under way on it.
func TestEndsWithRequestsUnderWay(t *testing.T) {
	begun, hold := make(chan struct{}), make(chan struct{})
	base := served(t, func(s *Server) {
		s.Answer = func(net.Conn, []byte) ([]byte, time.Duration) {
			close(begun)
			<-hold
			return bytes.Repeat([]byte("x"), 100), 0
		}
	})
	c := client(t, true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := c.Post(base+"/dns-query", mediaType, strings.NewReader("abc")); err == nil {
			resp.Body.Close()
		}
	}()
	<-begun
	t.Cleanup(func() { close(hold); <-done }) // before that of the server, which waits for the answer
}
