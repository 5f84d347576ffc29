package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
)

// Store is an open state file. It is safe for concurrent use. Values that it takes or gives are
// copies. Every write is on the disk when its call returns; a full or failed disk is an error, after
// which the store holds what it held before and may be tried again.
//
// Damage that is met while the store is open is an error too, from then on from every call: Close
// the store and Open the file again to set it aside.
type Store struct {
	name string   // the path, for errors
	file *os.File // owned by db, but for the lock on it after damage
	db   *bolt.DB

	writing sync.Mutex // one writer at a time: bbolt's own lock may stay held after a panic
	damaged atomic.Bool
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

// Put sets the value of one key. The bucket is made if there is none.
func (s *Store) Put(bucket, key string, value []byte) error {
	err := s.change(bucket, func(b *bolt.Bucket) error {
		return put(b, bucket, []byte(key), value)
	})
	return s.told(err, "bucket %s: put %q", bucket, key)
}

// PutAll makes the bucket hold exactly the given keys and values, in one transaction. Only what
// differs is written, and nothing at all when nothing differs.
func (s *Store) PutAll(bucket string, all map[string][]byte) error {
	err := s.change(bucket, func(b *bolt.Bucket) error {
		same, gone := compare(b, bucket, all)
		if len(gone) == 0 && len(same) == len(all) {
			return errUnchanged
		}
		for _, key := range gone {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(all)) { // bbolt is fastest in order
			if same[key] {
				continue
			}
			if err := put(b, bucket, []byte(key), all[key]); err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
		}
		return nil
	})
	return s.told(err, "bucket %s: put all", bucket)
}

// Change sets the values of some keys of a bucket and deletes others, in one transaction. A key that is
// to go and is not there is gone.
func (s *Store) Change(bucket string, set map[string][]byte, gone []string) error {
	err := s.change(bucket, func(b *bolt.Bucket) error {
		if len(set) == 0 && len(gone) == 0 {
			return errUnchanged
		}
		for _, key := range gone {
			if err := b.Delete([]byte(key)); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(set)) {
			if err := put(b, bucket, []byte(key), set[key]); err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
		}
		return nil
	})
	return s.told(err, "bucket %s: change", bucket)
}

// compare tells which keys of all the bucket holds with the same value, and which keys of the
// bucket are not in all. A value that is damaged is not the same.
func compare(b *bolt.Bucket, bucket string, all map[string][]byte) (same map[string]bool, gone [][]byte) {
	same = make(map[string]bool, len(all))
	cursor := b.Cursor()
	for key, sealed := cursor.First(); key != nil; key, sealed = cursor.Next() {
		want, wanted := all[string(key)]
		if !wanted {
			gone = append(gone, bytes.Clone(key))
			continue
		}
		if have, err := unseal(bucket, key, sealed); err == nil && bytes.Equal(have, want) {
			same[string(key)] = true
		}
	}
	return same, gone
}

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
	if s.damaged.Load() {
		// bbolt may hold its locks for ever; only the lock on the file matters to others.
		return s.told(release(s.file), "close")
	}
	return s.told(s.db.Close(), "close")
}

// change runs do in a write transaction on a caller's bucket.
func (s *Store) change(bucket string, do func(*bolt.Bucket) error) error {
	if bucket == journalBucket || bucket == schemaBucket {
		return errors.New("the name is the store's own")
	}
	return s.write(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(bucket))
		if err != nil {
			return err
		}
		return do(b)
	})
}

// look runs do in a read transaction on a bucket, if there is such a bucket.
func (s *Store) look(bucket string, do func(*bolt.Bucket) error) error {
	return s.guarded(func() error {
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
	err := s.guarded(func() error { return s.db.Update(do) })
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// guarded keeps damage from ending the process, and bbolt from being used after it.
func (s *Store) guarded(do func() error) error {
	if s.damaged.Load() {
		return fmt.Errorf("%w while it was open", errDamaged)
	}
	err := guard(do)
	if errors.Is(err, errDamaged) {
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
	return do()
}

func (s *Store) told(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("state %s: %s: %w", s.name, fmt.Sprintf(format, args...), err)
}
