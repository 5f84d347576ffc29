package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// program builds gslb and gives its path. It is the ordinary one: a browser is work enough for the machine, and what the
// page asks for is tested with the race detector beside the code.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "gslb-page-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, "gslb")
	out, err := exec.Command("go", "build", "-o", binary, "gslb/cmd/gslb").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})

// chromium is the one browser of all tests: each has a tab of its own in it.
var chromium = sync.OnceValues(startBrowser)

// TestMain ends the browser, which the first test that needs it starts.
func TestMain(m *testing.M) {
	code := m.Run()
	if _, err := exec.LookPath("chromium"); err == nil {
		if b, err := chromium(); err == nil {
			b.close()
		}
		if binary, err := program(); err == nil {
			_ = os.RemoveAll(filepath.Dir(binary)) // the system tidies its folder for passing files
		}
	}
	os.Exit(code)
}
