package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listener is a test that only notes what it is told.
type listener struct {
	testing.TB
	told []string
}

func (l *listener) Helper() {}

func (l *listener) Errorf(format string, of ...any) {
	l.told = append(l.told, fmt.Sprintf(format, of...))
}

func TestTellsWhatDiffersAndWritesOnlyWhenAsked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status.txt")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := &listener{TB: t}
	Compare(l, file, "one\ntwo\n")
	if len(l.told) != 0 {
		t.Errorf("equal texts are told apart: %q", l.told)
	}
	Compare(l, file, "one\nthree\n")
	if len(l.told) != 1 || !strings.Contains(l.told[0], file) || !strings.Contains(l.told[0], `"three"`) {
		t.Errorf("got %q, want the file and the line that differs", l.told)
	}

	before := flag.Lookup("update").Value.String()
	t.Cleanup(func() { _ = flag.Set("update", before) }) // it was a value of the flag
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	Compare(t, file, "one\nthree\n")
	if text, err := os.ReadFile(file); err != nil || string(text) != "one\nthree\n" {
		t.Errorf("under -update the file is %q, %v", text, err)
	}
}
