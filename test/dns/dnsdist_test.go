package dns

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// balanced is dnsdist before a server: one backend for UDP and TCP, which it tells its clients by the PROXY protocol. It is
// up for good, however late it answers on a busy machine.
const balanced = `
setLocal("FRONT")
setACL({"127.0.0.0/8"})
setSecurityPollSuffix("")
newServer({address="BACK", source="127.7.0.1", useProxyProtocol=true, tcpFastOpen=false}):setUp()
`

// dnsdist speaks for its clients: each is steered as who it is, over UDP and TCP, and told its own reasons.
func TestDnsdistSpeaksForItsClients(t *testing.T) {
	path, kdig := rig.Installed(t, "dnsdist", "dnsdist"), rig.Installed(t, "kdig", "knot-dnsutils")
	back, _ := gslb(t, strings.NewReplacer("explain: [127.0.0.0/8], tsig_keys: tsig.keys", "explain: [127.9.9.9/32], proxies: [127.7.0.1/32]",
		"networks: [203.0.113.0/24, ", "networks: [127.9.9.9/32, ", "transfer: {keys: [xfr]}", "", "LONG", "x").Replace(steered), nil)
	front := vacant(t)
	p := newProcess(t, map[string]string{"dnsdist.conf": strings.NewReplacer("FRONT", front.String(), "BACK", back.String()).Replace(balanced)})
	answers(t, back, "ok.test.", dns.TypeSOA)
	p.begin(path, "-C", "dnsdist.conf", "--supervised", "--disable-syslog")
	answers(t, front, "ok.test.", dns.TypeSOA)

	ask := func(client string, at netip.AddrPort, words ...string) string {
		arguments := append([]string{"-b", client, "@" + at.Addr().String(), "-p", fmt.Sprint(at.Port()), "+short", "+time=10"}, words...)
		return run(t, kdig, arguments...)
	}
	for _, over := range []string{"+notcp", "+tcp"} {
		if got := ask("127.9.9.9", front, over, "www.ok.test", "A"); got != "198.51.100.1\n" {
			t.Errorf("%s: a partner's client gets %q", over, got)
		}
		if got := ask("127.8.8.8", front, over, "www.ok.test", "A"); got != "192.0.2.1\n" {
			t.Errorf("%s: another gets %q", over, got)
		}
		reasons := ask("127.9.9.9", front, over, "CH", "TXT", "www.ok.test")
		if !regexp.MustCompile(`(?m)^"client=127\.9\.9\.9 via=source"$`).MatchString(reasons) || !strings.Contains(reasons, "placed=partners partner=sibtel prefix=127.9.9.9/32") {
			t.Errorf("%s: the reasons are\n%s", over, reasons)
		}
		if got := ask("127.8.8.8", front, over, "CH", "TXT", "www.ok.test"); got != "" {
			t.Errorf("%s: a stranger gets the reasons %s", over, got)
		}
	}
	// Without a proxy in between nothing changes.
	if got := ask("127.8.8.8", back, "www.ok.test", "A"); got != "192.0.2.1\n" {
		t.Errorf("without a proxy the answer is %q", got)
	}
}
