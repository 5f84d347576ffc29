package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
)

// schemaVersion is the version of what this package writes. The place where it stands, and how
// it is sealed, never change.
const (
	schemaVersion = 1
	versionKey    = "version"
)

const (
	lockTimeout = 2 * time.Second       // how long Open waits for another process to give the file back
	lockRetry   = 50 * time.Millisecond // between two tries
)

// Errors of Open that the operator has to settle: the file is good, but not ours to use.
var (
	// ErrInUse says that another process holds the file.
	ErrInUse = errors.New("in use by another process")
	// ErrNewer says that a newer gslb has written the file.
	ErrNewer = errors.New("written by a newer gslb")
	// ErrForeign says that the file is a bbolt database of another program.
	ErrForeign = errors.New("a database of another program")
)

// Open opens a state file, and makes it, with its folder, when there is none. A damaged file is
// set aside. The notice is empty, or one line that tells the operator what was lost and where
// the damaged file is.
func Open(file string) (store *Store, notice string, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, "", fmt.Errorf("state %s: %w", file, err)
	}
	store, notice, err = load(file)
	if errors.Is(err, errDamaged) && notice != "" {
		store, _, err = load(file)
	}
	if err != nil {
		return nil, "", fmt.Errorf("state %s: %w", file, err)
	}
	if notice != "" {
		notice = fmt.Sprintf("state %s: %s", file, notice)
	}
	return store, notice, nil
}

// load locks, inspects and opens a file. When it is damaged and was set aside, the notice says
// so beside errDamaged.
func load(file string) (store *Store, notice string, err error) {
	f, err := lock(file)
	if err != nil {
		return nil, "", err
	}
	notice, err = inspectFile(f)
	if err == nil {
		store, err = open(f, file)
	}
	if err == nil {
		return store, notice, nil
	}
	// The file is renamed while it is locked: nobody else can be using it.
	if errors.Is(err, errDamaged) {
		notice, err = setAside(file, err)
	}
	return nil, notice, errors.Join(err, release(f))
}

// lock opens a file and takes the lock by which bbolt's users know each other. The name may have
// gone to another file while we waited, so the file is opened anew for each try.
func lock(file string) (*os.File, error) {
	deadline := time.Now().Add(lockTimeout)
	for {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		err = tryLock(f, file)
		if err == nil {
			return f, nil
		}
		f.Close()
		if !errors.Is(err, ErrInUse) || time.Now().After(deadline) {
			return nil, err
		}
		time.Sleep(lockRetry)
	}
}

// tryLock locks f, or gives ErrInUse when another process has it or has renamed it.
func tryLock(f *os.File, file string) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !opened.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if named, err := os.Stat(file); err != nil || !os.SameFile(named, opened) {
		return ErrInUse
	}
	return nil
}

// release gives up the lock and closes the file. The lock is given up by itself, since a mapping
// that bbolt left behind would hold it.
func release(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); errors.Is(err, syscall.EBADF) {
		return nil // bbolt has closed it
	}
	return f.Close()
}

// inspectFile checks a locked file. The notice tells of a loss that needs nothing to be set aside.
func inspectFile(f *os.File) (notice string, err error) {
	named, err := f.Stat()
	if err != nil || named.Size() == 0 {
		return "", err
	}
	torn, err := inspect(f, named.Size())
	if err == nil && torn {
		notice = "one of its two heads was damaged: the last write may be lost"
	}
	return notice, err
}

// setAside renames a damaged file so that it can be looked at.
func setAside(file string, cause error) (notice string, err error) {
	name := file + ".damaged-" + time.Now().UTC().Format("20060102T150405Z")
	aside := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			break
		}
		aside = name + "-" + strconv.Itoa(n)
	}
	if err := os.Rename(file, aside); err != nil {
		return "", fmt.Errorf("%w, and could not be set aside: %w", cause, err)
	}
	return fmt.Sprintf("%v: set aside as %s, begun anew", cause, aside), cause
}

// open hands a locked and inspected file to bbolt, and prepares an empty one.
func open(f *os.File, file string) (*Store, error) {
	s := &Store{name: file, file: f}
	err := guard(func() (err error) {
		s.db, err = bolt.Open(file, 0o600, &bolt.Options{
			OpenFile:     func(string, int, os.FileMode) (*os.File, error) { return f, nil },
			FreelistType: bolt.FreelistMapType,
			NoStatistics: true,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.write(begin); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// begin writes what every state file holds, if it is not there.
func begin(tx *bolt.Tx) error {
	if tx.Bucket([]byte(schemaBucket)) != nil {
		return errUnchanged
	}
	if _, err := tx.CreateBucket([]byte(journalBucket)); err != nil {
		return err
	}
	b, err := tx.CreateBucket([]byte(schemaBucket))
	if err != nil {
		return err
	}
	return put(b, schemaBucket, []byte(versionKey), []byte(strconv.Itoa(schemaVersion)))
}
