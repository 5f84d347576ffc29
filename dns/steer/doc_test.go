package steer_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The package comment leads through the files, so it names each of them, and none that is not there.
func TestPackageCommentNamesEveryFile(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	patterns := regexp.MustCompile(`[a-z_*]+\.go\b`).FindAllString(string(text), -1)
	var named []string
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil || len(files) == 0 {
			t.Errorf("doc.go names %s, which is not there", p)
		}
		named = append(named, files...)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") && f != "doc.go" && !slices.Contains(named, f) {
			t.Errorf("doc.go does not name %s: say where it belongs", f)
		}
	}
}
