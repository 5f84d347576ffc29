package dns

import (
	"fmt"
	"os"
	"testing"

	"gslb/test/rig"
)

// TestMain builds the server once.
func TestMain(m *testing.M) {
	confine()
	if _, err := rig.Program(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	rig.Tidy()
	os.Exit(code)
}
