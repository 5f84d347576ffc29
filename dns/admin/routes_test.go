package admin_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/dns/admin"
)

// told writes prefixes in short: prefix[sites]missing: partner/peer=verdict(why)…
func told(prefixes []admin.Prefix) string {
	var lines []string
	for _, p := range prefixes {
		line := p.Prefix.String() + "[" + strings.Join(p.Sites, " ") + "]"
		for _, a := range p.Missing {
			line += "-" + a.String()
		}
		line += ":"
		for _, r := range p.Routes {
			line += fmt.Sprintf(" %s/%s=%s", r.Partner, r.Peer, r.Verdict)
			if why := r.Because + string(r.Refused); why != "" {
				line += "(" + why + ")"
			}
			if !r.Stale.IsZero() {
				line += "?"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (p *peering) routes(t *testing.T, query string) admin.Routes {
	t.Helper()
	code, body := p.get("/v1/routes?" + query)
	if code != http.StatusOK {
		t.Fatalf("%s: %d %s", query, code, body)
	}
	return read[admin.Routes](t, body)
}

// busy has two partners that contend for networks, and one that only watches.
func busy(t *testing.T) *peering {
	p := newPeering(t)
	p.announce(0, now, "203.0.112.0/20", "203.0.113.0/24", "64501:50", "198.51.100.0/24", "10.0.0.0/8")
	p.announce(1, now, "203.0.113.0/24", "med=5", "203.0.114.0/24")
	p.announce(2, now, "length=2", "203.0.113.0/24", "length=3", "198.51.100.0/24", "203.0.113.0/28")
	p.announce(3, now, "203.0.113.0/24", "192.0.2.0/24")
	return p
}

func TestRoutesTellWhoWins(t *testing.T) {
	p := busy(t)
	for name, c := range map[string]struct{ query, want string }{
		"everything that is believed": {"", `
192.0.2.0/24[]: trial/127.0.0.12=shadow
198.18.0.0/24[nsk]: sibtel/static=wins
198.51.100.0/24[ekb nsk]-127.0.0.10: uralnet/127.0.0.11=wins sibtel/127.0.0.9=spare(preference 50 after 100)
203.0.112.0/20[nsk]-127.0.0.10: sibtel/127.0.0.9=wins
203.0.113.0/24[nsk ekb]: sibtel/127.0.0.9=wins sibtel/127.0.0.10=wins trial/127.0.0.12=shadow uralnet/127.0.0.11=spare(path length 2 after 1)
203.0.114.0/24[nsk]-127.0.0.9: sibtel/127.0.0.10=wins`},
		"one partner": {"partner=uralnet", `
198.51.100.0/24[ekb nsk]-127.0.0.10: uralnet/127.0.0.11=wins sibtel/127.0.0.9=spare(preference 50 after 100)
203.0.113.0/24[nsk ekb]: sibtel/127.0.0.9=wins sibtel/127.0.0.10=wins trial/127.0.0.12=shadow uralnet/127.0.0.11=spare(path length 2 after 1)`},
		"what is refused": {"refused=1", `
10.0.0.0/8[]: sibtel/127.0.0.9=refused(bogus)
203.0.113.0/28[nsk ekb]: uralnet/127.0.0.11=refused(length)`},
		"what is refused of one partner": {"refused=1&partner=uralnet", `
203.0.113.0/28[nsk ekb]: uralnet/127.0.0.11=refused(length)`},
		"a prefix, those around it and inside it": {"prefix=203.0.113.0/24", `
203.0.112.0/20[nsk]-127.0.0.10: sibtel/127.0.0.9=wins
203.0.113.0/24[nsk ekb]: sibtel/127.0.0.9=wins sibtel/127.0.0.10=wins trial/127.0.0.12=shadow uralnet/127.0.0.11=spare(path length 2 after 1)
203.0.113.0/28[nsk ekb]: uralnet/127.0.0.11=refused(length)`},
		"an address": {"address=203.0.114.77", `
203.0.112.0/20[nsk]-127.0.0.10: sibtel/127.0.0.9=wins
203.0.114.0/24[nsk]-127.0.0.9: sibtel/127.0.0.10=wins`},
		"an address that is refused": {"address=10.1.2.3", `
10.0.0.0/8[]: sibtel/127.0.0.9=refused(bogus)`},
		"an address of one partner": {"address=203.0.113.1&partner=uralnet", `
203.0.113.0/24[nsk ekb]: sibtel/127.0.0.9=wins sibtel/127.0.0.10=wins trial/127.0.0.12=shadow uralnet/127.0.0.11=spare(path length 2 after 1)
203.0.113.0/28[nsk ekb]: uralnet/127.0.0.11=refused(length)`},
		"nothing": {"address=2001:db8::1", "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(p.routes(t, c.query).Prefixes); got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestEqualPathsAreToldApartByMED(t *testing.T) {
	p := newPeering(t)
	p.announce(0, now, "med=5", "203.0.113.0/24")
	p.announce(1, now, "med=9", "203.0.113.0/24")
	want := "203.0.113.0/24[nsk]: sibtel/127.0.0.9=wins sibtel/127.0.0.10=spare(MED 9)"
	if got := told(p.routes(t, "prefix=203.0.113.0/24").Prefixes); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestStaleRoutesSaySinceWhen(t *testing.T) {
	p := newPeering(t)
	p.announce(0, now, "203.0.113.0/24")
	p.lose(0, now.Add(time.Minute))
	r := p.routes(t, "address=203.0.113.7").Prefixes[0].Routes[0]
	if !r.Since.Equal(now) || !r.Stale.Equal(now.Add(time.Minute)) || r.Verdict != admin.RouteWins {
		t.Errorf("got %+v", r)
	}
}

// Pages, one after the other, are the table: nothing is left out, nothing comes twice.
func TestPagesAddUpToTheTable(t *testing.T) {
	var routes []bgp.Route
	for i := range 203 {
		r := bgp.Route{Prefix: numbered(i), Partner: []string{"sibtel", "uralnet"}[i%2], Preference: 100}
		if i%5 == 0 {
			r.Refused = bgp.RefusedWithin
		}
		routes = append(routes, r)
	}
	p := newPeering(t)
	table := bgp.NewTable(3, routes)
	p.deps.Routes = func() *bgp.Table { return table }
	for _, query := range []string{"", "partner=sibtel", "refused=1", "prefix=20.0.0.0/17", "refused=1&partner=uralnet"} {
		whole := told(p.routes(t, query+"&limit=10000").Prefixes)
		for _, limit := range []int{1, 7, 100} {
			var pages []string
			for from := ""; ; {
				page := p.routes(t, fmt.Sprintf("%s&limit=%d&from=%s", query, limit, url.QueryEscape(from)))
				if len(page.Prefixes) > limit || page.Version != 3 || page.Table != 203 {
					t.Fatalf("%s: %d prefixes on a page of %d", query, len(page.Prefixes), limit)
				}
				if len(page.Prefixes) > 0 {
					pages = append(pages, told(page.Prefixes))
				}
				if from = page.Next; from == "" {
					break
				}
			}
			if got := strings.Join(pages, "\n"); got != whole {
				t.Errorf("%q in pages of %d: %d bytes, in one %d", query, limit, len(got), len(whole))
			}
		}
	}
}

func TestBadRouteQuestionsAreToldInWords(t *testing.T) {
	p := newPeering(t)
	for query, want := range map[string]struct {
		code  int
		error string
	}{
		"prefix=moscow":         {400, `prefix "moscow": not a network such as 203.0.113.0/24`},
		"prefix=203.0.113.7/24": {400, `prefix "203.0.113.7/24": has bits behind its length; the network is 203.0.113.0/24`},
		"address=203.0.113.0/8": {400, `address "203.0.113.0/8": not an address such as 203.0.113.7`},
		"address=fe80::1%25eth": {400, `address "fe80::1%eth": not an address such as 203.0.113.7`},
		"from=x":                {400, `prefix "x": not a network such as 203.0.113.0/24`},
		"refused=maybe":         {400, `refused "maybe": neither 1 nor 0`},
		"limit=0":               {400, `limit "0": not a number from 1 to 10000`},
		"limit=10001":           {400, `limit "10001": not a number from 1 to 10000`},
		"partner=sibtle":        {404, `partner "sibtle": not in the configuration (did you mean sibtel?)`},
	} {
		code, body := p.get("/v1/routes?" + query)
		if got := read[admin.Failure](t, body).Error; code != want.code || got != want.error {
			t.Errorf("%s: got %d %q, want %d %q", query, code, got, want.code, want.error)
		}
	}
}

// numbered is one /24 for each number.
func numbered(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{20 + byte(i>>16), byte(i >> 8), byte(i)}), 24)
}
