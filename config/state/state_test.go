package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// start is the time at which the tests' events begin.
var start = time.Date(2026, 11, 29, 20, 30, 0, 0, time.UTC)

// openGood opens a file that must be neither refused nor damaged, and closes it with the test.
func openGood(t testing.TB, file string) *Store {
	t.Helper()
	s, notice, err := Open(file)
	if err != nil || notice != "" {
		t.Fatalf("Open(%s): notice %q, error %v", file, notice, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustAll(t testing.TB, s *Store, bucket string) map[string]string {
	t.Helper()
	all, err := s.All(bucket)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for k, v := range all {
		texts[k] = string(v)
	}
	return texts
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestHoldsWhatWasPutAfterReopening(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "folder", "state.db")
	s := openGood(t, file)
	must(t, s.put("windows", "192.0.2.1", []byte("up")))
	must(t, s.put("windows", "192.0.2.2", []byte{}))
	must(t, s.put("prefixes", "192.0.2.1", []byte("another bucket")))
	must(t, s.Close())

	s = openGood(t, file)
	if diff := cmp.Diff(map[string]string{"192.0.2.1": "up", "192.0.2.2": ""}, mustAll(t, s, "windows")); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
	for key, want := range map[string][]byte{"192.0.2.1": []byte("up"), "192.0.2.2": {}, "192.0.2.3": nil} {
		if got, err := s.Get("windows", key); err != nil || (got == nil) != (want == nil) || string(got) != string(want) {
			t.Errorf("Get(windows, %s) = %#v, %v, want %#v", key, got, err, want)
		}
	}
	if got := mustAll(t, s, "never written"); len(got) != 0 {
		t.Errorf("a bucket that was never written holds %v", got)
	}
}

func TestPutAllReplacesTheBucket(t *testing.T) {
	s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
	must(t, s.put("windows", "gone", []byte("x")))
	must(t, s.put("windows", "changed", []byte("x")))
	must(t, s.put("windows", "same", []byte("x")))
	must(t, s.putAll("windows", map[string][]byte{"same": []byte("x"), "changed": []byte("y"), "new": nil}))
	want := map[string]string{"same": "x", "changed": "y", "new": ""}
	if diff := cmp.Diff(want, mustAll(t, s, "windows")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPutAllIsOneTransactionOrNone(t *testing.T) {
	s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
	transactions := func() (id int) {
		must(t, s.db.View(func(tx *bolt.Tx) error { id = tx.ID(); return nil }))
		return id
	}
	all := map[string][]byte{}
	for i := range 500 {
		all[fmt.Sprint(i)] = []byte("window")
	}
	before := transactions()
	must(t, s.putAll("windows", all))
	if got := transactions() - before; got != 1 {
		t.Errorf("500 values took %d transactions, want 1", got)
	}
	must(t, s.putAll("windows", all))
	must(t, s.trim(start, 10))
	if got := transactions() - before; got != 1 {
		t.Errorf("writing the same again took %d transactions, want none", got-1)
	}
}

func TestRefusesWhatItCannotStore(t *testing.T) {
	s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
	cases := []struct {
		name string
		err  error
		want string
	}{
		{"empty key", s.put("windows", "", nil), `write: bucket windows: "": key required`},
		{"empty bucket", s.put("", "a", nil), `write: bucket : bucket name required`},
		{"the journal as a bucket", s.put("journal", "a", nil), `write: bucket journal: the name is the store's own`},
		{"the schema as a bucket", s.putAll("schema", nil), "write: bucket schema: the name is the store's own"},
		{"empty key among others", s.putAll("windows", map[string][]byte{"": nil}), `write: bucket windows: "": key required`},
		{"event without a time", s.append(Event{Kind: "geo"}), "write: journal: geo event: time 0001-01-01T00:00:00Z is not between 1970 and 2262"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if want := "state " + s.name + ": " + c.want; c.err == nil || c.err.Error() != want {
				t.Errorf("got  %v\nwant %s", c.err, want)
			}
		})
	}
}

func TestFileIsForItsOwnerOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "state.db")
	openGood(t, file)
	for name, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if found, err := os.Stat(name); err != nil || found.Mode().Perm() != want {
			t.Errorf("%s: mode %v, error %v, want %v", name, found.Mode().Perm(), err, want)
		}
	}
}

func TestWaitsTwoSecondsForAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	first := openGood(t, file)
	began := time.Now()
	_, _, err := Open(file)
	if !errors.Is(err, ErrInUse) || err.Error() != "state "+file+": in use by another process" {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took < lockTimeout || took > lockTimeout+time.Minute { // a busy machine is late
		t.Errorf("it took %v", took)
	}
	must(t, first.Close())
	openGood(t, file)
}

func TestSaysWhyAFileCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	cases := []struct{ name, file, want string }{
		{"folder is a file", filepath.Join(folder, "file", "state.db"), "not a directory"},
		{"file is a folder", folder, "is a directory"},
		{"file is a device", "/dev/null", "not a regular file"},
		{"folder that nobody can write to", "/proc/gslb/state.db", "mkdir /proc/gslb: "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, notice, err := Open(c.file)
			if s != nil || notice != "" || err == nil {
				t.Fatalf("opened: notice %q, error %v", notice, err)
			}
			if !strings.HasPrefix(err.Error(), "state "+c.file+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestManyMayReadAndWriteAtOnce(t *testing.T) {
	s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			name := fmt.Sprint(worker)
			for i := range 20 {
				value := []byte(fmt.Sprint(i))
				err := errors.Join(
					s.put("windows", name, value),
					s.putAll(name, map[string][]byte{"a": value}),
					s.append(Event{Time: start, Kind: name, Text: fmt.Sprint(i)}),
				)
				events, readErr := s.Events(start, 10)
				got, getErr := s.Get("windows", name)
				if err := errors.Join(err, readErr, getErr); err != nil || len(events) == 0 || string(got) != string(value) {
					t.Errorf("worker %d, round %d: %d events, got %q, %v", worker, i, len(events), got, err)
					return
				}
			}
		})
	}
	all.Wait()
	events, err := s.Events(start, 0)
	must(t, err)
	next := map[string]int{}
	for _, e := range events {
		if e.Text != fmt.Sprint(next[e.Kind]) {
			t.Fatalf("worker %s: event %s came when %d was due", e.Kind, e.Text, next[e.Kind])
		}
		next[e.Kind]++
	}
	if len(events) != 80 {
		t.Errorf("%d events of 80", len(events))
	}
}
