package bgp

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
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
	binary, err := program()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(filepath.Dir(binary)) // the system tidies its folder for passing files
	os.Exit(code)
}
