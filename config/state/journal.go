package state

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Event is one thing that happened: a line of the journal.
type Event struct {
	ID     string            // its place in the journal: later events have greater ones; given by Events and After, not taken by Append
	Time   time.Time         // from 1970 to 2262, kept to the nanosecond; Events gives it in UTC
	Kind   string            // what it happened to: one of [Kinds]
	Text   string            // one line in the operator's words
	Fields map[string]string // the same for programs; may be nil
}

// Kinds are the kinds of things that an event of this program can happen to.
func Kinds() []string {
	return []string{"endpoint", "place", "service", "drain", "state", "brake", "config", "geo", "session", "server"}
}

// entry is an Event's value in the file; its time is in the key.
type entry struct {
	Kind   string            `json:"kind,omitempty"`
	Text   string            `json:"text,omitempty"`
	Fields map[string]string `json:"fields,omitempty"`
}

// A key is the time in nanoseconds since 1970 and a number that keeps events of one nanosecond
// in the order in which they came, both big-endian: the order of keys is the order of events.
const (
	keyTime = 8
	keySize = keyTime + 4
)

// appendEvent writes one event behind those of the same time.
func appendEvent(b *bolt.Bucket, e Event) error {
	if e.Time.Before(time.Unix(0, 0)) || e.Time.After(time.Unix(0, math.MaxInt64)) {
		return fmt.Errorf("time %s is not between 1970 and 2262", e.Time.Format(time.RFC3339))
	}
	value, err := json.Marshal(entry{Kind: e.Kind, Text: e.Text, Fields: e.Fields})
	if err != nil {
		return err
	}
	key, err := nextKey(b, e.Time)
	if err != nil {
		return err
	}
	return put(b, journalBucket, key, value)
}

// nextKey gives the first key of a time that comes after all keys of that time.
func nextKey(b *bolt.Bucket, t time.Time) ([]byte, error) {
	key := timeKey(t, math.MaxUint32)
	cursor := b.Cursor()
	found, _ := cursor.Seek(key)
	if string(found) == string(key) {
		return nil, fmt.Errorf("too many at %s", t.Format(time.RFC3339Nano))
	}
	last, _ := cursor.Prev()
	if found == nil {
		last, _ = cursor.Last()
	}
	number := uint32(0)
	if len(last) == keySize && string(last[:keyTime]) == string(key[:keyTime]) {
		number = binary.BigEndian.Uint32(last[keyTime:]) + 1
	}
	return timeKey(t, number), nil
}

// timeKey gives the key of the event with a number at a time; before 1970 counts as 1970.
func timeKey(t time.Time, number uint32) []byte {
	nanoseconds := uint64(0)
	switch {
	case t.After(time.Unix(0, math.MaxInt64)):
		nanoseconds = math.MaxInt64
	case t.After(time.Unix(0, 0)):
		nanoseconds = uint64(t.UnixNano())
	}
	key := binary.BigEndian.AppendUint64(make([]byte, 0, keySize), nanoseconds)
	return binary.BigEndian.AppendUint32(key, number)
}

// Events gives the last events that happened at a time or later, oldest first: at most limit of
// them, or all when limit is 0. The zero time is the beginning.
func (s *Store) Events(since time.Time, limit int) ([]Event, error) {
	var events []Event
	err := s.read(func(b *bolt.Bucket) error {
		first := string(timeKey(since, 0))
		cursor := b.Cursor()
		for key, sealed := cursor.Last(); key != nil && string(key) >= first; key, sealed = cursor.Prev() {
			if limit > 0 && len(events) == limit {
				break
			}
			e, err := readEvent(key, sealed)
			if err != nil {
				return err
			}
			events = append(events, e)
		}
		return nil
	})
	if err != nil {
		return nil, s.told(err, "journal: events")
	}
	slices.Reverse(events)
	return events, nil
}

// After gives the events that come after one in the journal, oldest first and at most so many. The event itself need
// not be there any more. A text that is not an ID is an error.
func (s *Store) After(id string, limit int) ([]Event, error) {
	key, err := hex.DecodeString(id)
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("event %q: %w", id, ErrID)
	}
	var events []Event
	err = s.read(func(b *bolt.Bucket) error {
		cursor := b.Cursor()
		at, sealed := cursor.Seek(key)
		if bytes.Equal(at, key) {
			at, sealed = cursor.Next()
		}
		for ; at != nil && len(events) < limit; at, sealed = cursor.Next() {
			e, err := readEvent(at, sealed)
			if err != nil {
				return err
			}
			events = append(events, e)
		}
		return nil
	})
	return events, s.told(err, "journal: events")
}

// read runs do in a read transaction on the journal. A journal that cannot be had is an error, and not an empty one.
func (s *Store) read(do func(*bolt.Bucket) error) error {
	had := false
	err := s.look(journalBucket, func(b *bolt.Bucket) error {
		had = true
		return do(b)
	})
	if err != nil || had {
		return err
	}
	s.using.RLock()
	defer s.using.RUnlock()
	return s.hindered
}

// ErrID says that a text names no place in a journal.
var ErrID = errors.New("not the ID of an event")

// Newest is the ID of the newest event; the one before all others when there is none.
func (s *Store) Newest() (string, error) {
	id := hex.EncodeToString(make([]byte, keySize))
	err := s.read(func(b *bolt.Bucket) error {
		if key, _ := b.Cursor().Last(); key != nil {
			id = hex.EncodeToString(key)
		}
		return nil
	})
	return id, s.told(err, "journal: newest event")
}

func readEvent(key, sealed []byte) (Event, error) {
	value, err := unseal(journalBucket, key, sealed)
	if err != nil {
		return Event{}, err
	}
	var e entry
	if err := json.Unmarshal(value, &e); err != nil || len(key) != keySize {
		return Event{}, fmt.Errorf("%w: event %x cannot be read", errDamaged, key)
	}
	nanoseconds := int64(binary.BigEndian.Uint64(key))
	return Event{ID: hex.EncodeToString(key), Time: time.Unix(0, nanoseconds).UTC(), Kind: e.Kind, Text: e.Text, Fields: e.Fields}, nil
}

// expired gives the keys of the events that [Writer.Trim] forgets.
func expired(b *bolt.Bucket, before time.Time, limit int) (keys [][]byte) {
	first := string(timeKey(before, 0))
	kept := 0
	cursor := b.Cursor()
	for key, _ := cursor.Last(); key != nil; key, _ = cursor.Prev() {
		if string(key) < first || limit > 0 && kept == limit {
			keys = append(keys, append([]byte{}, key...))
			continue
		}
		kept++
	}
	return keys
}
