package geo

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch is what [Source.Run] remembers between events. An event only makes it look at the files, whatever it says: what
// counts is whether their stamps changed, so other files in the folder disturb nobody, and a lost event does no harm.
type watch struct {
	source *Source
	notify *fsnotify.Watcher // nil if the system gives none
	due    *time.Timer       // when the files are to be read
	files  Files             // that were looked at last
	seen   stamps            // of them
	failed int               // how often they could not be read as they are
	shut   bool              // the last time since the system would not have it
}

func newWatch(s *Source) *watch {
	w := &watch{source: s, due: time.NewTimer(time.Hour)}
	w.due.Stop()
	var err error
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		w.notify = nil
		s.log.Warn("geo database is watched by the clock only", "cause", err)
	}
	w.look()
	return w
}

func (w *watch) close() {
	w.due.Stop()
	if w.notify != nil {
		_ = w.notify.Close() // nothing is left to do about it
	}
}

// events has a value after a change in a watched folder.
func (w *watch) events() <-chan fsnotify.Event {
	if w.notify == nil {
		return nil
	}
	return w.notify.Events
}

// losses has a value when the system lost events.
func (w *watch) losses() <-chan error {
	if w.notify == nil {
		return nil
	}
	return w.notify.Errors
}

// look compares the files with what was seen of them, and sets the time to read them if they changed: a while from now,
// which starts anew with each change.
func (w *watch) look() {
	files, loaded := w.source.state()
	w.follow(files)
	found := stampsOf(files)
	if files == w.files && found.equal(w.seen) {
		return
	}
	w.files, w.seen, w.failed, w.shut = files, found, 0, false
	if found.equal(loaded) {
		w.due.Stop()
		return
	}
	w.due.Reset(w.source.pace.quiet)
}

// load reads the files and publishes their map. A file that is written slowly looks like a broken one, so an error is told
// only when it comes again with the same files.
func (w *watch) load() {
	e, err := w.source.read(w.files)
	_, w.shut = errors.AsType[*fs.PathError](err)
	if err == nil {
		w.failed = 0
		w.source.publish(e, false)
		return
	}
	switch w.failed++; w.failed {
	case 1:
		w.due.Reset(w.source.pace.again)
	case 2:
		w.source.log.Error("geo database not loaded, the old one stays", "database", w.source.Latest().Name(), "cause", err)
	}
}

// retry reads files once more that could not be opened.
func (w *watch) retry() {
	if w.shut && w.failed > 1 {
		w.load()
	}
}

// follow watches the folders of files, and those of what they link to, and no others. One that cannot be watched (it may be
// gone for a moment) is left to the clock.
func (w *watch) follow(f Files) {
	if w.notify == nil {
		return
	}
	var folders []string
	for _, path := range f.paths() {
		folders = append(folders, filepath.Dir(path))
		if target, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(target))
		}
	}
	for _, old := range w.notify.WatchList() {
		if !slices.Contains(folders, old) {
			_ = w.notify.Remove(old)
		}
	}
	for _, folder := range folders {
		_ = w.notify.Add(folder)
	}
}
