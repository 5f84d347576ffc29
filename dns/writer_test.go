package dns_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	mdns "github.com/miekg/dns"

	"gslb/dns"
)

// labels is a name of so many octets in wire form.
func labels(octets int, under string) string {
	var b strings.Builder
	for left := octets - len(under) - 1; left > 0; { // "x." of the text is as long as in wire form
		n := min(left, 64)
		if left-n == 1 {
			n--
		}
		b.WriteString(strings.Repeat("n", n-1) + ".")
		left -= n
	}
	return b.String() + under
}

// Whatever its names are, also with dots, zeros and other names inside their labels, a reply says what the zone says.
func TestNamesAtTheirLimits(t *testing.T) {
	long := labels(255, "ok.test.")
	if n, ok := mdns.IsDomainName(long); !ok || len(long) != 254 {
		t.Fatalf("%q: %d labels, %d octets", long, n, len(long))
	}
	records := []string{
		long + " MX 1 " + long,
		labels(254, "ok.test.") + " MX 1 " + labels(255, "ok.tesu."),
		`a\.ok.test.ok.test. MX 1 \002ok\004test\000.ok.test.`,
		`\002ok\004test.ok.test. MX 1 x\004test.`, // it ends in the octets of test, and is not below it
		`v.ok.test. MX 1 x\002ok\004test.`,
		`\000.ok.test. MX 1 \000.x.ok.test.`,
		`x.ok.test. MX 1 .`,
		`y.ok.test. MX 1 ok.test.`,
		`z.ok.test. MX 1 ook.test.`,
	}
	for _, origin := range []string{"ok.test", "test"} {
		t.Run(origin, func(t *testing.T) {
			var zone strings.Builder
			fmt.Fprintf(&zone, "zones:\n  %q:\n    ns: [ns.example.]\n    records: |\n", origin)
			for _, r := range records {
				zone.WriteString("      " + r + "\n")
			}
			s := snapshotOf(t, "server: {}\n"+zone.String())
			for _, r := range records {
				want, err := mdns.NewRR(r)
				if err != nil {
					t.Fatal(err)
				}
				packet, _ := question(t, want.Header().Name+" MX +edns=1232")
				reply := dns.NewResponder("ns1", "test").Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Now: noon}, nil)
				m := new(mdns.Msg)
				if err := m.Unpack(reply); err != nil {
					t.Fatalf("%s: %v", r, err)
				}
				if len(m.Answer) != 1 || m.Answer[0].(*mdns.MX).Mx != want.(*mdns.MX).Mx || m.Answer[0].Header().Name != want.Header().Name {
					t.Errorf("%s: got %v", r, m.Answer)
				}
			}
		})
	}
}
