package state

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// inChild is set in the process that runs a test for another.
const inChild = "GSLB_TEST_CHILD"

// The limit that plays the full disk holds for all files of a process, those of the testing
// package as well: the test runs in a process of its own.
func TestFullDiskIsAnErrorAndHeals(t *testing.T) {
	if os.Getenv(inChild) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestFullDiskIsAnErrorAndHeals$", "-test.v")
		child.Env = append(os.Environ(), inChild+"=1")
		out, err := child.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("PASS: TestFullDiskIsAnErrorAndHeals")) {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	file := filepath.Join(t.TempDir(), "state.db")
	s := openGood(t, file)
	must(t, s.put("windows", "a", []byte("before")))
	must(t, s.append(Event{Time: start, Text: "before"}))

	heal := limitFileSize(t, file)
	big := make([]byte, 1<<20)
	if err := s.put("windows", "a", big); err == nil {
		t.Error("Put into a full disk gave no error")
	}
	if err := s.putAll("prefixes", map[string][]byte{"a": big}); err == nil {
		t.Error("PutAll into a full disk gave no error")
	}
	if err := s.append(Event{Time: start, Text: string(big)}); err == nil {
		t.Error("Append into a full disk gave no error")
	}
	if got, err := s.Get("windows", "a"); err != nil || string(got) != "before" {
		t.Errorf("after the failed writes Get = %q, %v", got, err)
	}
	heal()

	must(t, s.put("windows", "b", big))
	must(t, s.append(Event{Time: start, Text: "after"}))
	must(t, s.Close())
	s = openGood(t, file)
	want := map[string]string{"a": "before", "b": string(big)}
	if got := mustAll(t, s, "windows"); !cmp.Equal(got, want) {
		t.Errorf("after the disk had room again: %d keys, want 2 unharmed ones", len(got))
	}
	if events, err := s.Events(time.Time{}, 0); err != nil || len(events) != 2 {
		t.Errorf("events %v, %v", events, err)
	}
}

// A limit that not even the beginning of a file is below, whichever step of it that ends, is no reason not to start.
func TestLimitOfFilesIsNoReasonNotToStart(t *testing.T) {
	if os.Getenv(inChild) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestLimitOfFilesIsNoReasonNotToStart$", "-test.v")
		child.Env = append(os.Environ(), inChild+"=1")
		out, err := child.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("PASS: TestLimitOfFilesIsNoReasonNotToStart")) {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for _, pages := range []uint64{0, 1, 4, 5, 7} {
		file := filepath.Join(t.TempDir(), "state.db")
		heal := limitFiles(t, pages*uint64(os.Getpagesize()))
		s, notice, err := Open(file)
		if err != nil || notice != "" {
			t.Fatalf("%d pages: notice %q, error %v", pages, notice, err)
		}
		if err := s.put("windows", "a", nil); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%d pages: Put gives %v", pages, err)
		}
		if _, anew, err := s.Mend(); anew || !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%d pages: Mend opens anew: %v, %v", pages, anew, err)
		}
		heal()
		if notice, anew, err := s.Mend(); notice != "" || !anew || err != nil {
			t.Errorf("%d pages: after the limit Mend gives notice %q, anew %v, %v", pages, notice, anew, err)
		}
		must(t, s.put("windows", "a", nil))
		must(t, s.Close())
	}
}

// limitFileSize makes writes past the present end of a file fail, as on a full disk, until heal is called.
func limitFileSize(t *testing.T, file string) (heal func()) {
	t.Helper()
	found, err := os.Stat(file)
	must(t, err)
	return limitFiles(t, uint64(found.Size()))
}

// limitFiles makes writes to files behind so many octets fail, until heal is called.
func limitFiles(t *testing.T, octets uint64) (heal func()) {
	t.Helper()
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	signal.Ignore(syscall.SIGXFSZ)
	limit := old
	limit.Cur = octets
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	heal = sync.OnceFunc(func() {
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
		signal.Reset(syscall.SIGXFSZ)
	})
	t.Cleanup(heal)
	return heal
}
