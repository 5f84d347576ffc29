package state

import "time"

// Most tests write one thing at a time, each by a call of Write of its own.

func (s *Store) put(bucket, key string, value []byte) error {
	return s.Write(func(w *Writer) error { return w.Put(bucket, key, value) })
}

func (s *Store) putAll(bucket string, all map[string][]byte) error {
	return s.Write(func(w *Writer) error { return w.PutAll(bucket, all) })
}

func (s *Store) change(bucket string, set map[string][]byte, gone []string) error {
	return s.Write(func(w *Writer) error { return w.Change(bucket, set, gone) })
}

func (s *Store) append(events ...Event) error {
	return s.Write(func(w *Writer) error { return w.Append(events...) })
}

func (s *Store) trim(before time.Time, limit int) error {
	return s.Write(func(w *Writer) error { return w.Trim(before, limit) })
}
