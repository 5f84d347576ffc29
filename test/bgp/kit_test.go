package bgp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A router that is set up from nothing but the kit that we print for it, and what its owner adds, steers.
func TestFRRThatIsSetUpFromItsKitSteers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("FRR sets TCP MD5 as root alone")
	}
	t.Parallel()
	s, f := besideFRR(t)
	if err := os.WriteFile(filepath.Join(s.folder, "sibtel.md5"), []byte("swordfish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.configure(frrPartner(f, ", local: OURS, password_file: sibtel.md5, hold: 30s", `    accept: {within: [203.0.112.0/20, "2001:db8:100::/40"], origins: [64501]}
    communities: {"64501:50": prefer 50}`))
	kit := s.gslb("partner-kit", "sibtel", "--for", "frr")
	for _, word := range []string{"SECRET-OF-sibtel.md5", fmt.Sprintf("start bgpd with -p %d", f.at.Port()), "64501:50"} {
		if !strings.Contains(kit, word) {
			t.Errorf("no %q in the kit:\n%s", word, kit)
		}
	}
	kit = strings.ReplaceAll(kit, "SECRET-OF-sibtel.md5", "swordfish")
	f.write(fmt.Sprintf(`log stdout
%s
router bgp 64501
 bgp router-id %s
 no bgp network import-check
 address-family ipv4 unicast
  network 203.0.113.0/24 route-map LESS
  network 198.51.100.0/24
 exit-address-family
 address-family ipv6 unicast
  network 2001:db8:100::/40
 exit-address-family
route-map LESS permit 10
 set community 64501:50
`, kit, f.at.Addr()))
	f.begin()
	s.begin()
	s.sends("203.0.113.1", "nsk")
	s.sends("2001:db8:100::1", "nsk")
	s.keeps("198.51.100.1", "msk")
	lines := strings.Split(s.gslb("routes", "203.0.113.0/24"), "\n")
	if fields := strings.Fields(lines[1]); len(fields) < 6 || fields[5] != "50" {
		t.Errorf("got %q, want preference 50", lines[1])
	}
	if out := s.gslb("routes", "--refused"); !strings.Contains(out, "Nothing is refused") {
		t.Errorf("the kit let out what is refused:\n%s", out)
	}
	if out := f.vtysh("show bgp neighbors " + s.bgp.Addr().String()); !strings.Contains(out, "Hold time is 30 seconds") && !strings.Contains(out, "hold time is 30 seconds") {
		t.Errorf("the hold time is another:\n%s", out)
	}
}
