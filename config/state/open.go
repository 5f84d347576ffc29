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
// the damaged file is. A disk that is full, read-only or not ours is no error: the store then holds what can be
// read, and [Store.Mend] tells what is in the way.
func Open(file string) (store *Store, notice string, err error) {
	s := &Store{name: file}
	notice, err = s.open(true)
	if err != nil && !fromDisk(err) {
		return nil, "", fmt.Errorf("state %s: %w", file, err)
	}
	return s, notice, nil
}

// open is Open and Mend for who holds using alone. Whatever error it gives is the hindrance, too. A file on a read-only
// disk is only opened where that is wanted.
func (s *Store) open(readOnly bool) (notice string, err error) {
	s.file, s.db = nil, nil
	s.damaged.Store(false)
	if err = os.MkdirAll(filepath.Dir(s.name), 0o700); err == nil {
		notice, err = s.load(readOnly)
	}
	if errors.Is(err, errDamaged) && notice != "" {
		_, err = s.load(readOnly)
	}
	s.hindered = err
	if notice != "" {
		notice = fmt.Sprintf("state %s: %s", s.name, notice)
	}
	return notice, err
}

// load locks, inspects and opens a file. When it is damaged and was set aside, the notice says
// so beside errDamaged. A file that may only be read is open after it, with the error that says why.
func (s *Store) load(readOnly bool) (notice string, err error) {
	f, hindrance, err := lock(s.name, readOnly)
	if err != nil {
		return "", err
	}
	notice, err = inspectFile(f)
	if err == nil {
		err = s.take(f, hindrance != nil)
	}
	if err == nil {
		return notice, hindrance
	}
	// The file is renamed while it is locked: nobody else can be using it.
	if errors.Is(err, errDamaged) {
		notice, err = setAside(s.name, err)
	}
	return notice, errors.Join(err, release(f))
}

// lock opens a file and takes the lock by which bbolt's users know each other. The name may have
// gone to another file while we waited, so the file is opened anew for each try. A file that may only be
// read comes with the hindrance.
func lock(file string, readOnly bool) (f *os.File, hindrance, err error) {
	deadline := time.Now().Add(lockTimeout)
	for {
		how := syscall.LOCK_EX
		f, hindrance = os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if hindrance != nil && (!fromDisk(hindrance) || errors.Is(hindrance, syscall.EROFS) && !readOnly) {
			return nil, nil, hindrance
		}
		if hindrance != nil {
			how = syscall.LOCK_SH
			if f, err = os.Open(file); err != nil {
				return nil, nil, hindrance
			}
		}
		err = tryLock(f, file, how)
		if err == nil {
			return f, hindrance, nil
		}
		f.Close()
		if !errors.Is(err, ErrInUse) || time.Now().After(deadline) {
			return nil, nil, err
		}
		time.Sleep(lockRetry)
	}
}

// tryLock locks f, or gives ErrInUse when another process has it or has renamed it.
func tryLock(f *os.File, file string, how int) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if !opened.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
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

// take hands a locked and inspected file to bbolt, and prepares an empty one. After an error nothing is taken.
func (s *Store) take(f *os.File, readOnly bool) error {
	found, err := f.Stat()
	if err != nil {
		return err
	}
	empty := found.Size() == 0
	if empty && readOnly {
		return release(f) // there is nothing to read
	}
	var db *bolt.DB
	err = guard(func() (err error) {
		db, err = bolt.Open(s.name, 0o600, &bolt.Options{
			OpenFile:     func(string, int, os.FileMode) (*os.File, error) { return f, nil },
			FreelistType: bolt.FreelistMapType,
			NoStatistics: true,
			ReadOnly:     readOnly,
		})
		if err != nil || readOnly {
			return err
		}
		if err := db.Update(begin); !errors.Is(err, errUnchanged) {
			return err
		}
		return nil
	})
	if err == nil {
		s.file, s.db = f, db
		return nil
	}
	if empty {
		err = errors.Join(err, os.Truncate(s.name, 0)) // half of a beginning would be taken for damage
	}
	if db != nil && !errors.Is(err, errDamaged) {
		err = errors.Join(err, db.Close())
	}
	return err
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
