// Package golden answers one question: is a text still what a file beside the tests says?
//
// A golden file holds what is expected, as a reader would see it. Under -update it is written anew with what there is now:
//
//	golden.Compare(t, "testdata/status.txt", out.String())
//
//	go test ./cmd/gslb/sheet -update // then read the difference before you keep it
//
// It does not know what a text means, and forgives no difference. Only tests use it.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew; commit a change only when it is understood")

// Update tells whether golden files are to be written anew, for tests that write them by other means than [Compare].
func Update() bool { return *update }

// Compare holds a text against a golden file line by line, or writes the file under -update.
func Compare(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", file, diff)
	}
}
