package dns

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"gslb/test/rig"
)

// Answers leave in one piece; on a link that is too narrow for them, in fragments rather than not at all.
func TestNarrowLinkGetsAnswersInFragments(t *testing.T) {
	i, binary := bareIsland(t)
	dig := rig.Installed(t, "dig", "bind9-dnsutils")
	run(t, i.ip, "-n", i.name, "link", "set", "lo", "mtu", "1280")
	var records strings.Builder
	for n := range 4 {
		fmt.Fprintf(&records, "      large TXT %d%s\n", n, strings.Repeat("x", 240))
	}
	i.begin(newProcess(t, map[string]string{"gslb.yaml": fmt.Sprintf(`
server: {listen: ["127.0.0.1:5300", "[::1]:5300"]}
zones:
  ok.test:
    ns: [ns1]
    records: |
      ns1 A 192.0.2.53
%s`, records.String())}), binary, "serve", "-c", "gslb.yaml")
	ask := func(server string) string {
		out, _ := exec.Command(i.ip, "netns", "exec", i.name, dig, "@"+server, "-p", "5300", "+norec", "+tries=2", "+time=10", "+ignore", "+bufsize=1232", "large.ok.test", "TXT").Output()
		for line := range strings.Lines(string(out)) {
			if flags, answer, ok := strings.Cut(line, "; QUERY: 1, "); ok {
				return strings.TrimPrefix(flags, ";; ") + "; " + strings.TrimSpace(answer)
			}
		}
		return string(out)
	}
	const whole = "flags: qr aa; ANSWER: 4, AUTHORITY: 0, ADDITIONAL: 1"
	for _, server := range []string{"127.0.0.1", "::1"} {
		rig.Until(t, rig.Soon, whole, func() string { return ask(server) })
	}
	run(t, i.ip, "-n", i.name, "link", "set", "lo", "mtu", "600")
	if got := ask("127.0.0.1"); got != whole {
		t.Errorf("by a narrow link: %s", got)
	}
}
