package dns

import (
	"encoding/hex"
	"testing"

	"github.com/miekg/dns"
)

// Servers of different make that share a secret believe each other's cookies (RFC 9018): one name server may be
// several.
func TestNSDsCookiesAreOurs(t *testing.T) {
	const shared, other = "445536bcd2513298075a5d379663c962", "000102030405060708090a0b0c0d0e0f"
	config := "server: {listen: [\"DNS\"], state: state.db, cookie_secrets: secrets}\nadmin: {listen: \"ADMIN\"}\nzones: {alpha.test: {ns: [ns.example.]}}\n"
	at, _ := gslb(t, config, map[string]string{"secrets": shared + "\n"})
	answers(t, at, "alpha.test.", dns.TypeSOA)
	ours := newClient(t, at)
	for _, c := range []struct{ secret, want string }{{shared, "NOERROR"}, {other, "BADCOOKIE"}} {
		from := nsd(t, nsdMasters(expanded(t)), "  cookie-secret: \""+c.secret+"\"\n")
		answers(t, from, "alpha.test.", dns.TypeSOA)
		theirs := cookieOf(t, newClient(t, from).ask(whole(t, option(dns.EDNS0COOKIE, []byte("anybody!")...)...), false))
		greeting := whole(t, option(dns.EDNS0COOKIE, theirs...)...)
		greeting = append(edited(greeting[:header], 5, 0), greeting[optAt:]...) // no question: only the cookie is judged
		reply := ours.ask(greeting, false)
		got, err := hear(reply)
		if err != nil || got.rcode != c.want || len(cookieOf(t, reply)) != 24 {
			t.Errorf("NSD's cookie %x with the secret %s: %v, %s, want %s", theirs, c.secret, err, got, c.want)
		}
	}
}

// cookieOf is the cookie in a reply.
func cookieOf(t *testing.T, reply []byte) []byte {
	t.Helper()
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatal(err)
	}
	for _, option := range m.IsEdns0().Option {
		if c, ok := option.(*dns.EDNS0_COOKIE); ok {
			cookie, err := hex.DecodeString(c.Cookie)
			if err != nil {
				t.Fatal(err)
			}
			return cookie
		}
	}
	t.Fatalf("no cookie in %s", m)
	return nil
}
