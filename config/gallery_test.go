package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb/test/golden"
)

// today is when the galleries are visited: some drains in them are over.
var today = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// gallery names the configs of a folder below testdata.
func gallery(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no configs in testdata/%s: %v", folder, err)
	}
	return files
}

// told is what an operator reads about a config: a line for each problem.
func told(ps Problems) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

func TestBadConfigIsRefusedInTheseWords(t *testing.T) {
	for _, file := range gallery(t, "bad") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel() // readings share the table of forms
			c, ps := Load(file)
			ps = append(ps, c.TooFewPlaces(today)...)
			if ps.Err() == nil {
				t.Fatal("it loads")
			}
			golden.Compare(t, strings.TrimSuffix(file, ".yaml")+".golden", told(ps))
		})
	}
}

func TestGoodConfigLoads(t *testing.T) {
	for _, file := range gallery(t, "good") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel() // readings share the table of forms
			c, ps := Load(file)
			ps = append(ps, c.TooFewPlaces(today)...)
			if err := ps.Err(); err != nil {
				t.Errorf("it is refused:\n%v", err)
			}
			golden.Compare(t, strings.TrimSuffix(file, ".yaml")+".golden", told(ps.Warnings()))
		})
	}
}
