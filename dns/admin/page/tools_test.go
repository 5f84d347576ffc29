package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gslb/test/rig"
)

// sums gives what sha256sum prints of the files of source/, in the order of their names.
func sums(t *testing.T) string {
	t.Helper()
	files, err := os.ReadDir("source")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join("source", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	return text.String()
}

// missingTools says what the script build lacks on this machine: a program, or the packages, which it would have to load
// from the network. Under CI it may.
func missingTools() string {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed (apt-get install nodejs npm)"
		}
	}
	if rig.InCI() {
		return ""
	}
	lock, err := os.ReadFile("source/package-lock.json")
	if err != nil {
		return err.Error()
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(lock)
	if _, err := os.Stat(filepath.Join(cache, "gslb", "page-"+hex.EncodeToString(sum[:8]), "complete")); err != nil {
		return "the packages of the page are not at hand (dns/admin/page/build loads them)"
	}
	return ""
}
