package page

import (
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb/test/rig"
)

func TestDemoOpensOnThePage(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	p := openTab(t, strings.TrimSuffix(d, "/"))
	p.on(screen{width: 1280, height: 1000})
	p.open("", "Overview")
	p.sees(".banner", "Nothing is amiss")
	p.sees(".map a.marker", "⇄ sibtel")
	p.await("document.querySelectorAll('.map a.marker').length === 4 && document.querySelector('.u-wrap canvas')")
	p.shoot("demo")
	p.open("#/partners", "Partners")
	p.sees(".mark.is-serving", "established")
	p.sees("tbody", "203.0.113.0/24")
	p.sees("tbody .mark.is-serving", "wins")
	p.shoot("demo-partners")
	p.click("tbody a", "203.0.113.0/24")
	p.await("document.querySelector('h1').textContent === 'sibtel'")
	p.await("document.querySelector('input[aria-label^=\"a network\"]').value === '203.0.113.0/24'")
}

// startDemo starts the demo, and gives the address of the page that it prints.
func startDemo(t *testing.T) string {
	t.Helper()
	binary, err := rig.Plain()
	if err != nil {
		t.Fatal(err)
	}
	var screen rig.Output
	cmd := exec.Command(binary, "demo", "--interval", "400ms")
	cmd.Stdout, cmd.Stderr = &screen, &screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the demo:\n%s", screen.String())
		}
	})
	line := regexp.MustCompile(`(?m)^  page    (http://\S+/)`)
	for end := time.Now().Add(2 * rig.Soon); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if found := line.FindStringSubmatch(screen.String()); found != nil {
			return found[1]
		}
	}
	t.Fatalf("the demo prints no page:\n%s", screen.String())
	return ""
}
