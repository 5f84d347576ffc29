package health

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFilesTellTheCause(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(folder, "loop")); err != nil {
		t.Fatal(err)
	}
	state := func(name, text string, age time.Duration) File {
		path := write(t, folder, name, text)
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return File{Path: path, Stale: time.Minute}
	}
	of := func(name string) File { return File{Path: filepath.Join(folder, name)} }
	write(t, folder, "127.0.0.1.state", "down by name\n")
	old := state("old", "up", time.Hour)
	ask(t, []asked{
		{"up", state("up", "up\n", 0), ""},
		{"up, with a reason", state("fine", "  up all is well\nand more\n", 0), ""},
		{"down", state("down", "down", 0), "down"},
		{"down, with a reason", state("why", "down  disk\tis full \x1b\r\nsince noon", 0), "down: disk is full"},
		{"a reason without end", state("long", "down "+strings.Repeat("ж", 200), 0), "down: " + strings.Repeat("ж", 100) + "…"},
		{"by address", of("{address}.state"), "down: by name"},
		{"another word", state("word", "upper", 0), "file: neither up nor down"},
		{"another case", state("case", "UP", 0), "file: neither up nor down"},
		{"nothing", state("empty", "", 0), "file: neither up nor down"},
		{"garbage", state("garbage", "\x00\xff\xfe", 0), "file: neither up nor down"},
		{"stale", old, "file: not written for 1m"},
		{"old, which is no matter", File{Path: old.Path}, ""},
		{"missing", of("none"), "file: missing"},
		{"a folder", File{Path: folder}, "file: not a regular one"},
		{"a pipe", of("fifo"), "file: not a regular one"},
		{"a device without end", File{Path: "/dev/zero"}, "file: not a regular one"},
		{"large", state("large", "up"+strings.Repeat(" ", stateMax), 0), "file: over 4 KB"},
		{"a link to itself", of("loop"), "file: too many levels of symbolic links"},
	})
}

func FuzzState(f *testing.F) {
	for _, text := range []string{"up", "down", "down x", "\n\nup\n", "down \xff\x00", "upx"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := judgeState(text)
		if err == nil && !strings.HasPrefix(strings.TrimSpace(text), "up") {
			t.Errorf("%q is up", text)
		}
		if err != nil && (len([]rune(err.Error())) > 110 || strings.ContainsAny(err.Error(), "\n\r\x00\x1b")) {
			t.Errorf("cause %q", err)
		}
	})
}
