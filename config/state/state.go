package state

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	bolt "go.etcd.io/bbolt"
)

// Store is a state file. It is safe for concurrent use. Values that it takes or gives are
// copies. Every write is on the disk when its call returns; a full or failed disk is an error, after
// which the store holds what it held before and may be tried again.
//
// A file that can be read and not written to gives what it holds, and one that cannot even be made holds nothing;
// both refuse every write until [Store.Mend] finds that they can be used. A file on a disk that turns read-only is let
// go of at the first write, so that the disk can be checked and mounted again; the journal cannot be read then. Damage
// that is met while the store is open is an error of every call, until Mend as well.
type Store struct {
	name string // the path

	writing sync.Mutex   // one writer at a time: bbolt's own lock may stay held after a panic
	using   sync.RWMutex // held by who uses what follows, and by Mend, which exchanges it

	file     *os.File // owned by db, but for the lock on it after damage
	db       *bolt.DB // nil: there is no file
	hindered error    // why nothing can be written; nil: it can
	damaged  atomic.Bool
}

// The names that the store uses itself; no caller's bucket may have them.
const (
	journalBucket = "journal"
	schemaBucket  = "schema"
)

var (
	errDamaged   = errors.New("damaged")
	errUnchanged = errors.New("nothing to write")
)

// Get gives the value of a key, or nil when there is none; a value of no bytes is not nil.
func (s *Store) Get(bucket, key string) (value []byte, err error) {
	err = s.look(bucket, func(b *bolt.Bucket) error {
		sealed := b.Get([]byte(key))
		if sealed == nil {
			return nil
		}
		value, err = unseal(bucket, []byte(key), sealed)
		return err
	})
	return value, s.told(err, "bucket %s: get %q", bucket, key)
}

// All gives everything that a bucket holds; an empty map for a bucket that was never written.
func (s *Store) All(bucket string) (map[string][]byte, error) {
	all := map[string][]byte{}
	err := s.look(bucket, func(b *bolt.Bucket) error {
		return b.ForEach(func(key, sealed []byte) error {
			value, err := unseal(bucket, key, sealed)
			all[string(key)] = value
			return err
		})
	})
	if err != nil {
		return nil, s.told(err, "bucket %s: get all", bucket)
	}
	return all, nil
}

// Close gives the file back. No other call may follow.
func (s *Store) Close() error {
	s.using.Lock()
	defer s.using.Unlock()
	return s.told(s.close(), "close")
}

// close is Close for who holds using alone.
func (s *Store) close() error {
	switch {
	case s.db == nil:
		return nil
	case s.damaged.Load():
		// bbolt may hold its locks for ever; only the lock on the file matters to others.
		return release(s.file)
	}
	return s.db.Close()
}

// look runs do in a read transaction on a bucket, if there is such a bucket.
func (s *Store) look(bucket string, do func(*bolt.Bucket) error) error {
	return s.guarded(func() error {
		if s.db == nil {
			return nil
		}
		return s.db.View(func(tx *bolt.Tx) error {
			if b := tx.Bucket([]byte(bucket)); b != nil {
				return do(b)
			}
			return nil
		})
	})
}

func (s *Store) write(do func(*bolt.Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.guarded(func() error {
		if s.hindered != nil {
			return s.hindered
		}
		return s.db.Update(do)
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if errors.Is(err, syscall.EROFS) {
		s.letGo(err)
	}
	return err
}

// letGo closes the file because of what is in the way of writing to it.
func (s *Store) letGo(hindrance error) {
	s.using.Lock()
	defer s.using.Unlock()
	_ = s.close() // nothing is lost: every write has been on the disk, or was refused
	s.file, s.db, s.hindered = nil, nil, hindrance
}

// guarded keeps damage from ending the process, and bbolt from being used after it.
func (s *Store) guarded(do func() error) error {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.damaged.Load() {
		return fmt.Errorf("%w while it was open", errDamaged)
	}
	err := guard(do)
	if errors.Is(err, errDamaged) && s.db != nil { // else it is the hindrance
		s.damaged.Store(true)
	}
	return err
}

// guard turns a panic of bbolt, or a fault on a page that is not there, into errDamaged.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", errDamaged, cause)
		}
	}()
	return understood(do())
}

func (s *Store) told(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("state %s: %s: %w", s.name, fmt.Sprintf(format, args...), err)
}
