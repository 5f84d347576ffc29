package page

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"gslb/test/rig"
)

// chromium is the one browser of all tests: each has a tab of its own in it.
var chromium = sync.OnceValues(startBrowser)

// TestMain ends the browser, which the first test that needs it starts.
func TestMain(m *testing.M) {
	code := m.Run()
	if _, err := exec.LookPath("chromium"); err == nil {
		if b, err := chromium(); err == nil {
			b.close()
		}
	}
	rig.Tidy()
	os.Exit(code)
}
