package state

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// asNobody does something with the rights of nobody, for whom modes of files are bounds.
func asNobody(do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if os.Getuid() == 0 {
		const nobody = 65534
		_, _ = unix.SetfsuidRetUid(nobody)
		defer func() { _, _ = unix.SetfsuidRetUid(0) }()
	}
	do()
}

// openFolder is a folder that nobody may write to, as long as its mode stays.
func openFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	must(t, os.Chmod(filepath.Dir(folder), 0o755))
	must(t, os.Chmod(folder, 0o777))
	return folder
}

// opened opens a file as nobody, which must be no error.
func opened(t *testing.T, file string) *Store {
	t.Helper()
	var s *Store
	asNobody(func() {
		var notice string
		var err error
		if s, notice, err = Open(file); err != nil || notice != "" {
			t.Fatalf("notice %q, error %v", notice, err)
		}
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// mended has a store mended as nobody, and looks what it says.
func mended(t *testing.T, s *Store, wantNotice, wantAnew bool, wantErr error) {
	t.Helper()
	asNobody(func() {
		notice, anew, err := s.Mend()
		if (notice != "") != wantNotice || anew != wantAnew || !errors.Is(err, wantErr) {
			t.Errorf("notice %q, anew %v, error %v; want a notice: %v, anew: %v, error %v", notice, anew, err, wantNotice, wantAnew, wantErr)
		}
	})
}

func TestFolderThatCannotBeWrittenToHoldsNothingUntilItCan(t *testing.T) {
	folder := openFolder(t)
	for what, file := range map[string]string{"file": "state.db", "folder": "new/state.db"} {
		t.Run(what, func(t *testing.T) {
			must(t, os.Chmod(folder, 0o555))
			s := opened(t, filepath.Join(folder, file))
			if got := mustAll(t, s, "windows"); len(got) != 0 {
				t.Errorf("windows %v", got)
			}
			if events, err := s.Events(time.Time{}, 0); !errors.Is(err, syscall.EACCES) {
				t.Errorf("events %v, %v: that they cannot be read is not that there were none", events, err)
			}
			if err := s.put("windows", "a", nil); !errors.Is(err, syscall.EACCES) {
				t.Errorf("Put: %v", err)
			}
			mended(t, s, false, false, syscall.EACCES)
			must(t, os.Chmod(folder, 0o777))
			mended(t, s, false, true, nil)
			mended(t, s, false, false, nil)
			must(t, s.put("windows", "a", []byte("x")))
			must(t, s.Close())
			if got := mustAll(t, openGood(t, s.name), "windows"); got["a"] != "x" {
				t.Errorf("windows %v", got)
			}
		})
	}
}

func TestFileThatMayOnlyBeReadIsReadUntilItMayBeWritten(t *testing.T) {
	file := filepath.Join(openFolder(t), "state.db")
	whole := openGood(t, file)
	must(t, whole.put("windows", "a", []byte("x")))
	must(t, whole.append(at(1, "before")))
	must(t, whole.Close())
	must(t, os.Chmod(file, 0o444))

	s := opened(t, file)
	for range 2 {
		if got := mustAll(t, s, "windows"); got["a"] != "x" {
			t.Errorf("windows %v", got)
		}
		if err := s.append(at(2, "after")); !errors.Is(err, syscall.EACCES) {
			t.Errorf("Append: %v", err)
		}
		mended(t, s, false, false, syscall.EACCES)
	}
	if _, _, err := Open(file); os.Getuid() == 0 && !errors.Is(err, ErrInUse) {
		t.Errorf("another server may write to it meanwhile: %v", err)
	}
	must(t, os.Chmod(file, 0o666))
	mended(t, s, false, true, nil)
	must(t, s.append(at(2, "after")))
	events, err := s.Events(time.Time{}, 0)
	must(t, err)
	if diff := cmp.Diff([]string{"before", "after"}, texts(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// What is damaged and cannot be renamed is left where it is, and set aside as soon as that can be done.
func TestDamagedFileOnAReadOnlyDisk(t *testing.T) {
	folder := openFolder(t)
	file := filepath.Join(folder, "state.db")
	must(t, os.WriteFile(file, []byte("damaged"), 0o444))
	must(t, os.Chmod(folder, 0o555))
	s := opened(t, file)
	if err := s.put("windows", "a", nil); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), "could not be set aside") {
		t.Errorf("Put: %v", err)
	}
	if got := mustAll(t, s, "windows"); len(got) != 0 {
		t.Errorf("windows %v", got)
	}
	mended(t, s, false, false, syscall.EACCES)
	must(t, os.Chmod(folder, 0o777))
	mended(t, s, true, true, nil)
	must(t, s.put("windows", "a", nil))
	if kept, err := filepath.Glob(file + ".damaged-*"); err != nil || len(kept) != 1 {
		t.Errorf("set aside: %v, %v", kept, err)
	}
}

func TestMendsWhatBecameOfTheFileWhileItWasOpen(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	s := openGood(t, other)
	must(t, s.put("windows", "of", []byte("another")))
	must(t, s.Close())
	cases := map[string]struct {
		do     func(file string) error
		notice bool
		want   map[string]string
	}{
		"truncated": {func(file string) error { return os.Truncate(file, 8192) }, true, map[string]string{"b": "y"}},
		"removed":   {os.Remove, false, map[string]string{"b": "y"}},
		"replaced":  {func(file string) error { return os.Rename(other, file) }, false, map[string]string{"b": "y", "of": "another"}},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "state.db")
			s := openGood(t, file)
			must(t, s.put("windows", "a", []byte("x")))
			must(t, c.do(file))
			_, _ = s.All("windows") // finds the damage
			notice, anew, err := s.Mend()
			if err != nil || !anew || (notice != "") != c.notice {
				t.Errorf("notice %q, anew %v, error %v", notice, anew, err)
			}
			must(t, s.put("windows", "b", []byte("y")))
			must(t, s.Close())
			if diff := cmp.Diff(c.want, mustAll(t, openGood(t, file), "windows")); diff != "" {
				t.Errorf("windows (-want +got):\n%s", diff)
			}
		})
	}
}

// A disk that turned read-only can only be checked and mounted again when nobody holds a file on it.
func TestLetsGoOfAReadOnlyDisk(t *testing.T) {
	s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
	must(t, s.put("windows", "a", []byte("x")))
	if err := s.Write(func(*Writer) error { return syscall.EROFS }); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Write: %v", err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for _, f := range open {
		if name, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && name == s.name {
			t.Errorf("descriptor %s is still open", f.Name())
		}
	}
	if _, err := s.Newest(); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Newest: %v", err)
	}
	if _, anew, err := s.Mend(); err != nil || !anew {
		t.Errorf("Mend: %v, anew %v", err, anew)
	}
	if got := mustAll(t, s, "windows"); got["a"] != "x" {
		t.Errorf("windows %v", got)
	}
}
