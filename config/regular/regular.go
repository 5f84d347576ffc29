// Package regular answers the question: what does a file that the operator has named hold?
//
// Only a regular file is read, and only so much of it: a pipe could have its reader wait for ever, and a device never ends.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrOther says that what a name leads to is a folder, a pipe or a device.
var ErrOther = errors.New("it is not a regular file")

// Open opens a regular file of at most so many bytes for reading. It may grow. Errors are of type [*fs.PathError].
func Open(name string, most int64) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // so that a pipe without a writer opens at once
	if err != nil {
		return nil, err
	}
	about, err := f.Stat()
	switch {
	case err != nil:
	case !about.Mode().IsRegular():
		err = fault(name, ErrOther)
	case about.Size() > most:
		err = tooLarge(name, most)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Read gives what a regular file of at most so many bytes holds. Errors are of type [*fs.PathError].
func Read(name string, most int64) ([]byte, error) {
	f, err := Open(name, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most { // it grew, or did not tell its size
		err = tooLarge(name, most)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

func tooLarge(name string, most int64) error {
	if most%(1<<20) == 0 {
		return fault(name, fmt.Errorf("it is larger than %d MiB", most>>20))
	}
	return fault(name, fmt.Errorf("it is larger than %d KiB", most>>10))
}

func fault(name string, cause error) error {
	return &fs.PathError{Op: "open", Path: name, Err: cause}
}
