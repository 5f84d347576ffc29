package state

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// refusals are what a disk says that does not take what is written: it is read-only, full, failing, or somebody else's; it
// bounds files or the process (EFBIG); its file system is damaged (EUCLEAN, EBADMSG); or whoever serves it is gone.
var refusals = []error{
	syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EFBIG, syscall.EUCLEAN, syscall.EBADMSG,
	syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT,
}

// fromDisk tells whether an error is the disk's, which may be well again later.
func fromDisk(err error) bool {
	return slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) })
}

// worded is an error of bbolt that tells a refusal in words alone, as those of a file that is to grow, with the refusal.
type worded struct {
	error
	refusal error
}

func (w worded) Unwrap() []error { return []error{w.error, w.refusal} }

// understood finds the refusal in the words of an error.
func understood(err error) error {
	if err == nil || fromDisk(err) {
		return err
	}
	for _, refusal := range refusals {
		if strings.HasSuffix(err.Error(), ": "+refusal.Error()) {
			return worded{err, refusal}
		}
	}
	return err
}

// Mend opens the file anew when that can help: when nothing could be written to it until now, when it was found damaged
// while it was open, or when its name leads to another file or to none. Call it before writing. It tells whether it
// opened the file; the content then need not be what this store wrote. It gives a notice as [Open] does. The error is
// what still stands in the way.
func (s *Store) Mend() (notice string, anew bool, err error) {
	s.using.Lock()
	defer s.using.Unlock()
	if s.hindered == nil && !s.damaged.Load() && s.named() {
		return "", false, nil
	}
	if s.hindered != nil && s.db != nil && !s.damaged.Load() && s.named() && !errors.Is(s.hindered, syscall.EROFS) {
		if err := unix.Faccessat(unix.AT_FDCWD, s.name, unix.W_OK, unix.AT_EACCESS); err != nil {
			return "", false, s.told(s.hindered, "open") // it can still be read
		}
	}
	_ = s.close() // whatever is wrong with it, it is left behind
	notice, err = s.open(false)
	return notice, err == nil, s.told(err, "open")
}

// named tells whether the name still leads to the file that is open. When the disk does not say, it does.
func (s *Store) named() bool {
	if s.db == nil {
		return false
	}
	opened, err := s.file.Stat()
	if err != nil {
		return true
	}
	named, err := os.Stat(s.name)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	return err != nil || os.SameFile(named, opened)
}
