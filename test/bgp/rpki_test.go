package bgp

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gslb/test/rig"
)

// payloads writes VRPs in the form of validators, each "PREFIX MAXLENGTH ASN", as a new file in the old one's place.
func payloads(t *testing.T, file string, vrps ...string) {
	t.Helper()
	entries := make([]string, len(vrps))
	for i, v := range vrps {
		f := strings.Fields(v)
		entries[i] = fmt.Sprintf(`{"prefix": %q, "maxLength": %s, "asn": "AS%s"}`, f[0], f[1], f[2])
	}
	text := fmt.Sprintf(`{"metadata": {"buildtime": "2026-01-01T00:00:00Z"}, "roas": [%s]}`, strings.Join(entries, ", "))
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// cache runs StayRTR with a file of VRPs until it is killed or the test ends, and gives that.
func cache(t *testing.T, at netip.AddrPort, file string) (kill func()) {
	t.Helper()
	cmd := exec.Command(rig.Installed(t, "stayrtr", "stayrtr"), "-bind", at.String(), "-cache", file, "-checktime=false", "-refresh", "1", "-metrics.addr", "")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := &rig.Output{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	kill = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			t.Logf("log of StayRTR:\n%s", log)
		}
	})
	return kill
}

func TestRoutesThatRPKICallsInvalidSteerNobody(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"file", "cache"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s, b := beside(t)
			file := filepath.Join(s.folder, "vrps.json")
			payloads(t, file, "203.0.112.0/23 24 64502", "203.0.114.0/24 24 64999", "2001:db8:100::/40 40 64999")
			source, from, kill := `{file: vrps.json}`, "vrps.json: ", func() {}
			if way == "cache" {
				at := vacant(t, s.net.host(7))
				source, from, kill = fmt.Sprintf(`{rtr: ["%s"]}`, at), at.String()+": ", cache(t, at, file)
			}
			b.configure(routes("four", "203.0.113.0/24", "203.0.114.0/24", "203.0.112.128/25", "203.0.116.0/24"), routes("six", "2001:db8:100::/40"), b.session("gslb", s.bgp, ""))
			b.begin()
			s.configure(birdPartner(b, ", local: OURS", `    accept: {within: [203.0.112.0/20, "2001:db8:100::/40"], lengths: {ipv4: 8-25}}`))
			s.rewrite("router_id: 192.0.2.53", "router_id: 192.0.2.53, rpki: "+source)
			s.begin()
			s.sends("203.0.113.1", "nsk") // valid
			s.sends("203.0.116.1", "nsk") // not found
			for _, client := range []string{"203.0.114.1", "203.0.112.129", "2001:db8:100::1"} {
				s.sends(client, "msk") // of another origin, or too long
			}
			rig.Until(t, rig.Soon, "the words", func() string { return wordless(s.gslb("partners"), []string{"rpki_invalid 3", from, "3 VRPs"}) })
			if got := wordless(s.gslb("routes", "203.0.114.1", "--refused"), []string{"refused: rpki_invalid"}); got != "the words" {
				t.Error(got)
			}

			payloads(t, file, "203.0.112.0/23 24 64999", "203.0.114.0/24 24 64502")
			s.sends("203.0.114.1", "nsk")
			s.sends("2001:db8:100::1", "nsk")
			s.sends("203.0.113.1", "msk")

			kill()
			if err := os.WriteFile(file, []byte("no JSON"), 0o600); err != nil {
				t.Fatal(err)
			}
			troubled := map[string]string{"file": "no JSON", "cache": "lost: "}
			rig.Until(t, rig.Soon, "the words", func() string {
				return wordless(strings.ReplaceAll(s.gslb("partners"), "invalid character 'o' in literal null", "no JSON"), []string{troubled[way], "2 VRPs"})
			})
			s.keeps("203.0.113.1", "msk")
			s.keeps("203.0.114.1", "nsk")
		})
	}
}
