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
				"whole":       search(strings.NewReader(c.body), c.text),
				"in bytes":    search(iotest.OneByteReader(strings.NewReader(c.body)), c.text),
				"in halves":   search(iotest.HalfReader(strings.NewReader(c.body)), c.text),
				"end at once": search(iotest.DataErrReader(strings.NewReader(c.body)), c.text),
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
	check := Check{Kind: HTTP, Port: 80, Body: "OK", Status: mustStatus(f, "200-299")}
	f.Fuzz(func(t *testing.T, said string) {
		err := askHTTP(answer{Reader: strings.NewReader(said)}, netip.IPv6Loopback(), check)
		if err == nil {
			return
		}
		got := cause(err, check)
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
		kind    Kind
		port    uint16
		want    string
	}{
		{v4, HTTP, 80, "192.0.2.1"},
		{v4, HTTP, 443, "192.0.2.1:443"},
		{v4, HTTPS, 443, "192.0.2.1"},
		{v6, HTTP, 80, "[2001:db8::1]"},
		{v6, HTTPS, 80, "[2001:db8::1]:80"},
	} {
		if got := authority(c.address, Check{Kind: c.kind, Port: c.port}); got != c.want {
			t.Errorf("%v port %d of %v: %s, want %s", c.kind, c.port, c.address, got, c.want)
		}
	}
}
