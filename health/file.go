package health

import (
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"
)

// File reads a state that somebody writes: up or down, and in the same line a reason.
type File struct {
	Path  string        // in which {address} is filled in
	Stale time.Duration // how old what is written may be; 0: any age
}

// String is the word of the config.
func (File) String() string { return "file" }

func (f File) tell(add func(field, value string)) {
	add("path", f.Path)
	if f.Stale != 0 {
		add("stale", f.Stale.String())
	}
}

func (f File) ask(v *visit) error {
	ctx, end := v.timed()
	defer end()
	return v.apart(ctx, errand{f, v.at}, func() error { return f.read(v.at) })
}

// stateMax is how many bytes a state may have.
const stateMax = 4 << 10

// read gives nil for a file that says up.
func (f File) read(at netip.Addr) error {
	path := strings.ReplaceAll(f.Path, "{address}", at.String())
	// A pipe without a writer would hold up the opening of it.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fileFault(err)
	}
	defer file.Close()
	kind, err := file.Stat()
	switch {
	case err != nil:
		return fileFault(err)
	case !kind.Mode().IsRegular():
		return fault("file: not a regular one")
	case kind.Size() > stateMax:
		return fault("file: over 4 KB")
	case f.Stale > 0 && time.Since(kind.ModTime()) > f.Stale:
		return fault("file: not written for " + brief(f.Stale))
	}
	text, err := io.ReadAll(io.LimitReader(file, stateMax))
	if err != nil {
		return fileFault(err)
	}
	return judgeState(string(text))
}

// judgeState reads the first line of a state.
func judgeState(text string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch reason = oneLine(reason); {
	case word == "up":
		return nil
	case word != "down":
		return fault("file: neither up nor down")
	case reason == "":
		return fault("down")
	}
	return fault("down: " + reason)
}

// fileFault gives an error of the disk its cause.
func fileFault(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault("file: missing")
	case errors.As(err, &errno) && errno != syscall.EACCES && errno != syscall.EPERM && hinders(err):
		return err
	case errors.As(err, &errno):
		return fault("file: " + errno.Error())
	}
	return fault("file: unreadable")
}
