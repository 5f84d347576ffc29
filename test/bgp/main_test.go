package bgp

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"gslb/test/rig"
)

// TestMain builds the server once. Its tests wait more than they work, so more of them run at a time than
// there are cores.
func TestMain(m *testing.M) {
	flood()
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", "8"); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if _, err := rig.Program(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	rig.Tidy()
	os.Exit(code)
}
