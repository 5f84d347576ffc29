package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Writer writes in one transaction. It is of use only inside of [Store.Write].
type Writer struct {
	tx      *bolt.Tx
	changed bool
}

// Write does all that do does with the writer in one transaction: when Write returns all of it is on the disk, or, with
// an error, nothing. One transaction costs the disk the same whatever is in it, and nothing when nothing differs.
func (s *Store) Write(do func(*Writer) error) error {
	return s.told(s.write(func(tx *bolt.Tx) error {
		w := &Writer{tx: tx}
		if err := do(w); err != nil {
			return err
		}
		if !w.changed {
			return errUnchanged
		}
		return nil
	}), "write")
}

// Put sets the value of one key. The bucket is made if there is none.
func (w *Writer) Put(bucket, key string, value []byte) error {
	return w.in(bucket, func(b *bolt.Bucket) error {
		w.changed = true
		return within(put(b, bucket, []byte(key), value), strconv.Quote(key))
	})
}

// PutAll makes the bucket hold exactly the given keys and values. Only what differs is written.
func (w *Writer) PutAll(bucket string, all map[string][]byte) error {
	return w.in(bucket, func(b *bolt.Bucket) error {
		same, gone := compare(b, bucket, all)
		w.changed = w.changed || len(gone) > 0 || len(same) < len(all)
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
				return within(err, strconv.Quote(key))
			}
		}
		return nil
	})
}

// Change sets the values of some keys of a bucket and deletes others. Deleting a key that is not there is no error.
func (w *Writer) Change(bucket string, set map[string][]byte, gone []string) error {
	return w.in(bucket, func(b *bolt.Bucket) error {
		w.changed = w.changed || len(set) > 0 || len(gone) > 0
		for _, key := range gone {
			if err := b.Delete([]byte(key)); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(set)) {
			if err := put(b, bucket, []byte(key), set[key]); err != nil {
				return within(err, strconv.Quote(key))
			}
		}
		return nil
	})
}

// Append adds events to the journal.
func (w *Writer) Append(events ...Event) error {
	b := w.tx.Bucket([]byte(journalBucket))
	b.FillPercent = 0.9 // events come in order: a split page is not filled again
	for _, e := range events {
		w.changed = true
		if err := appendEvent(b, e); err != nil {
			return fmt.Errorf("journal: %s event: %w", e.Kind, err)
		}
	}
	return nil
}

// Trim forgets the events that happened before a time, and of the others all but the newest
// limit. The zero time sets no bound by age, and a limit of 0 none by number.
func (w *Writer) Trim(before time.Time, limit int) error {
	b := w.tx.Bucket([]byte(journalBucket))
	for _, key := range expired(b, before, limit) {
		w.changed = true
		if err := b.Delete(key); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	return nil
}

// in runs do on a caller's bucket.
func (w *Writer) in(bucket string, do func(*bolt.Bucket) error) error {
	if bucket == journalBucket || bucket == schemaBucket {
		return errors.New("bucket " + bucket + ": the name is the store's own")
	}
	b, err := w.tx.CreateBucketIfNotExists([]byte(bucket))
	if err == nil {
		err = do(b)
	}
	return within(err, "bucket "+bucket)
}

// within says what an error is of.
func within(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
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
