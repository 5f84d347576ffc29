package kit_test

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gslb/bgp/kit"
	"gslb/config"
	"gslb/test/golden"
	"gslb/test/rig"
)

// ours is our side of a session, which most cases have.
const ours = `bgp: {asn: 64512, router_id: 192.0.2.53, listen: ["192.0.2.53:179", "[2001:db8::53]:1790"]}`

// cases are partners as the configuration has them, each with our side.
var cases = map[string]struct{ bgp, partner string }{
	"neighbour": {ours, `
    peers: [{address: 203.0.113.9, asn: 64501, ttl_security: 1, password_file: /etc/gslb/sibtel.md5}]
    accept: {within: [203.0.112.0/20, 203.0.113.0/24, "2001:db8:100::/40"], origins: [64501, 64502], max_prefixes: 500}
    communities: {"64501:50": prefer 50, "64501:1:666": ignore}`},
	"far": {ours, `
    peers:
      - {address: 203.0.113.9, asn: 64501, families: [ipv4], ttl_security: 3, hold: 9s, keepalive: 1s}
      - {address: "2001:db8:100::9", asn: 64501, port: 1799, add_path: true}
    accept: {within: [203.0.112.0/20], lengths: {ipv4: 22-26}}
    shadow: true`},
	"unbounded": {`bgp: {asn: 64512, router_id: 192.0.2.53}`, `
    peers: [{address: 203.0.113.9, asn: 64501}]`},
	"customers": {`bgp: {asn: 64512, router_id: 192.0.2.53, listen: ["0.0.0.0:1790"]}`, `
    peers: [{address: 203.0.113.9, asn: 64501, local: 192.0.2.54}]
    accept: {origins: [4200000001]}`},
	"internal": {ours, `
    peers: [{address: 203.0.113.9, asn: 64512, families: [ipv6], port: 1799, passive: true}]
    accept: {origins: [64512]}`},
}

func parsed(t *testing.T, bgp, partner string) (config.BGP, config.Partner) {
	t.Helper()
	text := bgp + `
sites: {nsk: {}}
partners:
  sibtel:
    site: nsk` + partner
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return cfg.BGP, cfg.Partners[0]
}

func TestKitsAreAsExpected(t *testing.T) {
	for name, c := range cases {
		for _, r := range kit.Routers() {
			t.Run(name+"/"+string(r), func(t *testing.T) {
				bgp, partner := parsed(t, c.bgp, c.partner)
				got, err := kit.Write(r, bgp, partner)
				if err != nil {
					t.Fatal(err)
				}
				golden.Compare(t, filepath.Join("testdata", name+"."+string(r)), got)
			})
		}
	}
}

// checks ask a real router what it thinks of a configuration.
var checks = map[kit.Router]struct {
	program, debian string
	arguments       []string // before the file
}{
	kit.BIRD: {"bird", "bird2", []string{"-p", "-c"}},
	kit.FRR:  {"bgpd", "frr", []string{"--skip_runas", "-C", "-f"}},
}

func TestRealRoutersTakeTheirKits(t *testing.T) {
	for r, check := range checks {
		t.Run(string(r), func(t *testing.T) {
			program := rig.Installed(t, check.program, check.debian)
			for name, c := range cases {
				bgp, partner := parsed(t, c.bgp, c.partner)
				for _, peer := range partner.Peers {
					only := partner
					only.Peers = []config.Peer{peer}
					text, err := kit.Write(r, bgp, only)
					if err != nil {
						t.Fatal(err)
					}
					if complaint := judge(t, program, check.arguments, prelude(r)+filled(text)); complaint != "" {
						t.Errorf("%s, peer %s: %s\n%s", name, peer.Address, complaint, text)
					}
				}
			}
			if complaint := judge(t, program, check.arguments, "router of nonsense {\n"); complaint == "" {
				t.Error("nonsense is taken as well")
			}
		})
	}
}

// prelude is what stands in a router's configuration before a kit is added.
func prelude(r kit.Router) string {
	if r == kit.BIRD {
		return "router id 203.0.113.9;\nprotocol device {}\n"
	}
	return ""
}

// filled puts an address where the reader has to.
func filled(text string) string { return strings.ReplaceAll(text, "GSLB-ADDRESS", "192.0.2.53") }

// judge gives what a router has against a configuration, "" for nothing.
func judge(t *testing.T, program string, arguments []string, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "router.conf")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, append(arguments, file)...).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return strings.TrimSpace(workplace.ReplaceAllString(string(out), ""))
}

// workplace is what bgpd says when a process of the same number left its folder behind.
var workplace = regexp.MustCompile(`(?m)^.*(failed to mkdir "/var/tmp/frr/|crashlog and per-thread log buffering unavailable).*\n?`)

// A secret is named and not read: its file need not be there, and nothing of it shows when it is.
func TestSecretsAreNamedOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sibtel.md5")
	if err := os.WriteFile(file, []byte("swordfish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bgp, partner := parsed(t, ours, `
    peers: [{address: 203.0.113.9, asn: 64501, password_file: `+file+`}]
    accept: {origins: [64501]}`)
	for _, r := range kit.Routers() {
		text, err := kit.Write(r, bgp, partner)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "swordfish") || strings.Count(text, "SECRET-OF-sibtel.md5") < 2 || !strings.Contains(text, file) {
			t.Errorf("%s: the secret is told, or not named:\n%s", r, text)
		}
	}
}

func TestThereIsNoKitForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		router        kit.Router
		partner, want string
	}{
		"no peers":         {kit.BIRD, "\n    networks: [203.0.113.0/24]", "partner sibtel has no peers: its networks are listed in our configuration, so there is no router to set up"},
		"nothing believed": {kit.FRR, "\n    peers: [{address: 203.0.113.9, asn: 64501, families: [ipv6]}]\n    accept: {within: [203.0.113.0/24]}", "partner sibtel, peer 203.0.113.9: nothing that it could announce would be believed: accept.within has no network of the session's families"},
		"unknown router":   {"abacus", "\n    peers: [{address: 203.0.113.9, asn: 64501}]", `router "abacus": there is no kit for it`},
	} {
		bgp, partner := parsed(t, ours, c.partner)
		if _, err := kit.Write(c.router, bgp, partner); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func ExampleWrite() {
	text, err := kit.Write(kit.BIRD, config.BGP{ASN: 64512, RouterID: netip.MustParseAddr("192.0.2.53")}, config.Partner{
		Name: "sibtel", Site: "nsk", Stale: 15 * time.Minute,
		Peers: []config.Peer{{
			Address: netip.MustParseAddr("203.0.113.9"), Port: 179, ASN: 64501, Local: netip.MustParseAddr("192.0.2.53"),
			Hold: 90 * time.Second, Families: []config.Family{config.FamilyIPv4},
		}},
		Accept: config.Accept{IPv4: config.Lengths{Min: 8, Max: 24}, MaxPrefixes: 1000},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\tlocal") || strings.HasPrefix(line, "\tneighbor") {
			fmt.Print(strings.TrimSpace(line), "\n")
		}
	}
	// Output:
	// local 203.0.113.9 as 64501;
	// neighbor 192.0.2.53 as 64512;
}
