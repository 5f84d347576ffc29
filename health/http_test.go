package health

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestTextIsFoundHoweverTheBodyIsCut(t *testing.T) {
	filler := strings.Repeat("xO", 5000)
	for _, c := range []struct {
		name, body, text string
		found            bool
	}{
		{"in the middle", filler + "OK" + filler, "OK", true},
		{"at the end", filler + "OK", "OK", true},
		{"at the beginning", "OK" + filler, "OK", true},
		{"as all there is", "OK", "OK", true},
		{"longer than a read", filler + filler, "x" + filler[1:], true},
		{"nearly", filler, "OK", false},
		{"longer than the body", "O", "OK", false},
		{"in an empty body", "", "OK", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut, body := range map[string]error{
				"whole":       Text{Plain: c.text}.search(strings.NewReader(c.body), "body", true),
				"in bytes":    Text{Plain: c.text}.search(iotest.OneByteReader(strings.NewReader(c.body)), "body", true),
				"in halves":   Text{Plain: c.text}.search(iotest.HalfReader(strings.NewReader(c.body)), "body", true),
				"end at once": Text{Plain: c.text}.search(iotest.DataErrReader(strings.NewReader(c.body)), "body", true),
			} {
				if (body == nil) != c.found {
					t.Errorf("%s: %v, want found %v", cut, body, c.found)
				}
			}
		})
	}
}

// answer is a connection on which the endpoint says this much and closes, whatever it is asked.
type answer struct {
	net.Conn
	*strings.Reader
}

func (a answer) Read(p []byte) (int, error)  { return a.Reader.Read(p) }
func (a answer) Write(p []byte) (int, error) { return len(p), nil }

// FuzzAnswer: whatever an endpoint says, the cause is one of a few, and none of its words are in it.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		okHead + "\r\nOK", okHead + "Content-Length: 5\r\n\r\nO", okHead + "Transfer-Encoding: chunked\r\n\r\nzz",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\n\r\n", "HTTP/1.1 \xff", "SSH-2.0", "H", "",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", headMax/6+1),
	} {
		f.Add(seed)
	}
	causes := []string{
		"", `body lacks "OK"`, "connection closed", "bad response: not HTTP", "bad response: malformed header",
		"bad response: malformed body", "bad response: header over 64 KB",
	}
	page := HTTP{Port: 80, Body: Text{Plain: "OK"}, Status: mustStatus(f, "200-299")}
	f.Fuzz(func(t *testing.T, said string) {
		_, err := page.exchange(answer{Reader: strings.NewReader(said)}, NewOutside(), netip.IPv6Loopback())
		if err == nil {
			return
		}
		got := cause(err, Check{})
		if code, ok := strings.CutPrefix(got, "status "); ok && len(code) <= 3 {
			return
		}
		if !slices.Contains(causes, got) {
			t.Errorf("%q has the cause %q", said, got)
		}
	})
}

func TestHostHeaderOfAnAddressHasThePortThatTheSchemeDoesNotImply(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for _, c := range []struct {
		address netip.Addr
		tls     bool
		port    uint16
		want    string
	}{
		{v4, false, 80, "192.0.2.1"},
		{v4, false, 443, "192.0.2.1:443"},
		{v4, true, 443, "192.0.2.1"},
		{v6, false, 80, "[2001:db8::1]"},
		{v6, true, 80, "[2001:db8::1]:80"},
	} {
		if got := (HTTP{TLS: c.tls, Port: c.port}).authority(c.address); got != c.want {
			t.Errorf("TLS %v port %d of %v: %s, want %s", c.tls, c.port, c.address, got, c.want)
		}
	}
}
