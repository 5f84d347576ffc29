// Package state answers: what does the server still know after a restart?
//
// A [Store] is one bbolt file, held by one process. It has two rooms. Buckets are maps from
// keys to bytes: the windows of endpoints, the prefixes that partners announced. The journal is
// a list of events in time: what changed, when, in words.
//
//	store, notice, err := state.Open("/var/lib/gslb/state.db")
//	err = store.Write(func(w *state.Writer) error { // all of it, or nothing
//		return errors.Join(
//			w.PutAll("windows", windows),
//			w.Append(state.Event{Time: now, Kind: "place", Text: "msk-2/web withdrawn"}))
//	})
//	events, err := store.Events(now.Add(-time.Hour), 100) // oldest first
//
// The file may be damaged by a disk, a copy or a careless hand. bbolt maps it into memory and
// trusts what it finds there: a wrong page ends the process, by a fault, by a panic or by an
// endless recursion, and a changed value is handed out as if it were right. So Open reads every page by
// itself before bbolt sees the file, and every value carries a checksum. A damaged file is renamed
// to FILE.damaged-TIME, and a new one is begun: what is kept here makes a start better, but no loss of
// it may keep a server from starting.
//
// The package does not know what the values mean, keeps nothing in memory, writes no log, and
// refuses a file that a newer gslb has written, or another program.
package state
