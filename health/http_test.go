package health

import (
	"net/netip"
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

// Whoever redirects a POST means the page to be looked at, not the form to be sent twice (RFC 9110, section 15.4).
func TestWhatIsAskedBehindARedirect(t *testing.T) {
	at := netip.MustParseAddr("192.0.2.1")
	for _, c := range []struct{ method, want string }{{"", ""}, {"GET", "GET"}, {"HEAD", "HEAD"}, {"OPTIONS", "OPTIONS"}, {"POST", "GET"}} {
		h := HTTP{Method: c.method, Port: 80, Path: "/old/form?a=b"}
		if err := h.redirect("next", at); err != nil || h.Method != c.want || h.Path != "/old/next" {
			t.Errorf("%s: %s %s, %v; want %s /old/next", c.method, h.Method, h.Path, err, c.want)
		}
	}
}
