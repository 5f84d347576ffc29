package dns

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	"gslb/config"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The examples of RFC 9018 appendix A.
var interoperable = []struct {
	name, source, secret, asked, given string
	now                                int64
}{
	{"a new cookie", "198.51.100.100", "e5e973e5a6b2a43f48e7dc849e37bfcf", "2464c4abcf10c957", "2464c4abcf10c957010000005cf79f111f8130c3eee29480", 1559731985},
	{"a cookie renewed", "198.51.100.100", "e5e973e5a6b2a43f48e7dc849e37bfcf", "2464c4abcf10c957010000005cf79f111f8130c3eee29480",
		"2464c4abcf10c957010000005cf7a871d4a564a1442aca77", 1559734385},
	{"another client", "203.0.113.203", "e5e973e5a6b2a43f48e7dc849e37bfcf", "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5",
		"fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e", 1559734700},
	{"IPv6, by a new secret", "2001:db8:220:1:59de:d0f4:8769:82b8", "445536bcd2513298075a5d379663c962", "22681ab97d52c298010000005cf7c57926556bd0934c72f8",
		"22681ab97d52c298010000005cf7c609a6bb79d16625507a", 1559741961},
}

func TestServerCookiesAreTheOnesOfTheStandard(t *testing.T) {
	for _, tc := range interoperable {
		t.Run(tc.name, func(t *testing.T) {
			secret := config.CookieSecret(unhex(t, tc.secret))
			got := appendCookie(nil, unhex(t, tc.asked), netip.MustParseAddr(tc.source), time.Unix(tc.now, 0), &secret)
			if want := unhex(t, tc.given); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
		})
	}
}

func TestCookiesAreBelievedForAnHourFromTheirClient(t *testing.T) {
	first := config.CookieSecret(unhex(t, "dd3bdf9344b678b185a6f5cb60fca715"))
	second := config.CookieSecret(unhex(t, "445536bcd2513298075a5d379663c962"))
	client, other := netip.MustParseAddr("203.0.113.203"), netip.MustParseAddr("203.0.113.204")
	made := time.Unix(1559734700, 0)
	cookie := appendCookie(nil, unhex(t, "fc93fc62807ddb86"), client, made, &first)
	flipped := func(i int) []byte {
		b := bytes.Clone(cookie)
		b[i] ^= 1
		return b
	}
	for _, tc := range []struct {
		name    string
		cookie  []byte
		source  netip.Addr
		after   time.Duration
		secrets []config.CookieSecret
		want    bool
	}{
		{"at once", cookie, client, 0, []config.CookieSecret{first}, true},
		{"mapped into IPv6", cookie, netip.AddrFrom16(client.As16()), 0, []config.CookieSecret{first}, true},
		{"an hour later", cookie, client, time.Hour, []config.CookieSecret{first}, true},
		{"more than an hour later", cookie, client, time.Hour + time.Second, []config.CookieSecret{first}, false},
		{"from a clock that is ahead", cookie, client, -5 * time.Minute, []config.CookieSecret{first}, true},
		{"from a clock that is far ahead", cookie, client, -5*time.Minute - time.Second, []config.CookieSecret{first}, false},
		{"another client", cookie, other, 0, []config.CookieSecret{first}, false},
		{"while the secret is replaced", cookie, client, 0, []config.CookieSecret{second, first}, true},
		{"after the secret was replaced", cookie, client, 0, []config.CookieSecret{second}, false},
		{"another client cookie", flipped(0), client, 0, []config.CookieSecret{first}, false},
		{"another version", flipped(8), client, 0, []config.CookieSecret{first}, false},
		{"another time", flipped(15), client, 0, []config.CookieSecret{first}, false},
		{"another hash", flipped(23), client, 0, []config.CookieSecret{first}, false},
		{"without a server cookie", cookie[:8], client, 0, []config.CookieSecret{first}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := validCookie(tc.cookie, tc.source, made.Add(tc.after), tc.secrets); got != tc.want {
				t.Errorf("believed: %v", got)
			}
		})
	}
}

// A cookie of a version to come is none that we know of, whoever made it by our secret.
func TestCookiesOfOtherVersionsAreNotBelieved(t *testing.T) {
	secret := config.CookieSecret(unhex(t, "dd3bdf9344b678b185a6f5cb60fca715"))
	source, now := netip.MustParseAddr("192.0.2.1"), time.Unix(1559731985, 0)
	cookie := appendCookie(nil, unhex(t, "2464c4abcf10c957"), source, now, &secret)
	for version, want := range []bool{1: true, 2: false} {
		cookie[clientCookie] = byte(version)
		binary.LittleEndian.PutUint64(cookie[clientCookie+8:], cookieHash(cookie[:clientCookie+8], source, &secret))
		if got := validCookie(cookie, source, now, []config.CookieSecret{secret}); got != want {
			t.Errorf("version %d: %v, want %v", version, got, want)
		}
	}
}
