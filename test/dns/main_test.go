package dns

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMain builds the server once.
func TestMain(m *testing.M) {
	confine()
	binary, err := program()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(filepath.Dir(binary)) // the system tidies its folder for passing files
	os.Exit(code)
}
