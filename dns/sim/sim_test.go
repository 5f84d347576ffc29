package sim

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gslb/test/golden"
)

// scenarios names the scripts of testdata.
func scenarios(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return files
}

func TestScenarios(t *testing.T) {
	for _, file := range scenarios(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Run(file, text)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, file, string(got))
		})
	}
}

// claims gives the sentences that a scenario says it proves.
func claims(text string) []string {
	var ids []string
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), "# proves:"); ok {
			ids = append(ids, strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' })...)
		}
	}
	return ids
}

func TestEverySentenceHasAScenario(t *testing.T) {
	proved := map[string]bool{}
	for _, file := range scenarios(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ids := claims(string(text))
		if len(ids) == 0 {
			t.Errorf("%s proves nothing: it lacks a line # proves: ID", file)
		}
		for _, id := range ids {
			if !slices.ContainsFunc(sentences, func(s sentence) bool { return s.id == id }) {
				t.Errorf("%s proves %s, which is no sentence", file, id)
			}
			proved[id] = true
		}
	}
	for _, s := range sentences {
		if !proved[s.id] {
			t.Errorf("no scenario proves %s: %s", s.id, s.text)
		}
	}
}
