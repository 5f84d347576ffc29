package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/test/rig"
)

func TestExampleConfigHasNeitherErrorsNorWarnings(t *testing.T) {
	c := loadGood(t, filepath.Join("..", "deploy", "gslb.example.yaml"))
	if len(c.Services) != 2 || len(c.Places) != 5 || len(c.Zones) != 1 || len(c.Partners) != 1 {
		t.Errorf("it has %d services, %d places, %d zones and %d partners, want 2, 5, 1 and 1",
			len(c.Services), len(c.Places), len(c.Zones), len(c.Partners))
	}
}

// commentedOut is a line that shows a key or an item of a list without giving it.
var commentedOut = regexp.MustCompile(`(?m)^( *)# ( *[a-z_]+:| *- \{)`)

// What is commented out is shown to be used: it must be right as well.
func TestExampleHasNeitherErrorsNorWarningsWithAllThatIsCommentedOut(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "gslb.yaml"), commentedOut.ReplaceAllString(readDeployed(t, "gslb.example.yaml"), "$1$2"))
	write(t, filepath.Join(folder, "ok.test.zone"), readDeployed(t, "ok.test.zone"))
	c := loadGood(t, filepath.Join(folder, "gslb.yaml"))
	sibtel := c.Partners[0]
	got := []int{len(c.Drains), len(sibtel.Peers), len(sibtel.Accept.Origins), len(sibtel.Communities), len(c.BGP.RPKI.RTR), len(c.Geo.ASN)}
	if slices.Contains(got, 0) || len(c.Drains) != 3 || len(sibtel.Peers) != 2 {
		t.Errorf("drains, peers, origins, communities, RPKI caches and the ASN database are %d long, want three drains, two peers, and some of all", got)
	}
}

// The unit's exposure, as systemd counts it, stays below 2.0 of 10.
func TestUnitIsHardened(t *testing.T) {
	rig.Installed(t, "systemd-analyze", "systemd")
	unit := filepath.Join(t.TempDir(), "gslb.service")
	// The binary need not be installed for the rest of the unit to be right.
	write(t, unit, strings.ReplaceAll(readDeployed(t, "gslb.service"), "/usr/bin/gslb", "/bin/true"))
	socket := filepath.Join(filepath.Dir(unit), "gslb.socket")
	write(t, socket, readDeployed(t, "gslb.socket"))
	for _, args := range [][]string{
		{"verify", unit}, {"verify", socket},
		{"security", "--offline=true", "--threshold=20", "--no-pager", unit},
	} {
		if out, err := exec.Command("systemd-analyze", args...).CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}

// loadGood loads and compiles a config, as `gslb check` does, and tells of all that is found.
func loadGood(t *testing.T, file string) *config.Config {
	t.Helper()
	c, problems := config.Load(file)
	_, more := steer.Compile(c)
	for _, p := range append(problems, more...) {
		t.Error(p)
	}
	return c
}

func readDeployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
