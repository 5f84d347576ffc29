package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file of the size is told of at once, with its path, and not waited for.
func TestOnlyARegularFileOfTheSizeIsRead(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, size := range map[string]int64{"small": 2 << 10, "large": 2<<10 + 1, "huge": 1<<20 + 1} {
		if err := errors.Join(os.WriteFile(at(name), nil, 0o600), os.Truncate(at(name), size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("link")), os.Symlink("small", at("good"))); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		most  int64
		cause string // "": it is read
	}{
		{at("small"), 2 << 10, ""},
		{at("good"), 2 << 10, ""},
		{at("large"), 2 << 10, "it is larger than 2 KiB"},
		{at("huge"), 1 << 20, "it is larger than 1 MiB"},
		{at("pipe"), 2 << 10, "it is not a regular file"},
		{at("link"), 2 << 10, "it is not a regular file"},
		{folder, 2 << 10, "it is not a regular file"},
		{"/dev/zero", 2 << 10, "it is not a regular file"},
		{"/proc/self/status", 16, "it is larger than 0 KiB"}, // it does not tell its size
		{at("missing"), 2 << 10, "no such file or directory"},
	} {
		text, err := Read(tc.name, tc.most)
		var at *fs.PathError
		switch {
		case tc.cause == "" && (err != nil || len(text) == 0):
			t.Errorf("%s: %d bytes, %v", tc.name, len(text), err)
		case tc.cause != "" && (!errors.As(err, &at) || at.Path != tc.name || !strings.Contains(at.Err.Error(), tc.cause)):
			t.Errorf("%s: %v, want %s", tc.name, err, tc.cause)
		}
	}
}
