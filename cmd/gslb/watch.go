package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long files must have stayed as they are before they are read: whoever writes one may
	// be about to write another.
	quiet = 100 * time.Millisecond
	// lookInterval is how often files are looked at however silent the system is about them: some
	// file systems tell nothing.
	lookInterval = 2 * time.Second
	// maxLinks bounds the symbolic links on the way to a file, as the kernel does.
	maxLinks = 40
)

// watcher tells when files have changed. It watches the folders that lead to them, since files are
// replaced by renaming and by turning symbolic links; what happens there only makes it look. What
// counts is whether a file is another than before, so other files in a folder disturb nobody.
type watcher struct {
	log     *slog.Logger
	changed chan struct{} // one slot
	moved   chan struct{} // one slot: files is another than Run knows

	mu    sync.Mutex
	files []string
	seen  map[string]stamp // of files that are followed
}

// newWatcher makes a watcher of files that were read since the given time.
func newWatcher(files []string, since time.Time, log *slog.Logger) *watcher {
	w := &watcher{log: log, changed: make(chan struct{}, 1), moved: make(chan struct{}, 1), seen: map[string]stamp{}}
	w.Follow(files, since)
	return w
}

// Changed gets a signal when a file has changed, and no more is happening to them.
func (w *watcher) Changed() <-chan struct{} { return w.changed }

// Follow says which files are watched from now on: those that were read since the given time. A file
// that is new among them and has changed since then counts as changed: it may have been read before that.
func (w *watcher) Follow(files []string, since time.Time) {
	seen := make(map[string]stamp, len(files))
	w.mu.Lock()
	for _, f := range files {
		s, known := w.seen[f]
		if !known {
			if s = stampOf(f); s.after(since) {
				s = stamp{}
			}
		}
		seen[f] = s
	}
	w.files, w.seen = slices.Clone(files), seen
	w.mu.Unlock()
	signalSlot(w.moved)
}

func signalSlot(slot chan<- struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}

// Run watches until ctx ends.
func (w *watcher) Run(ctx context.Context) error {
	notify, err := fsnotify.NewWatcher()
	var events <-chan fsnotify.Event
	var losses <-chan error // events were lost: a look makes good for them
	if err != nil {
		w.log.Warn("config files watched by the clock only", "cause", err)
	} else {
		defer notify.Close()
		events, losses = notify.Events, notify.Errors
	}
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	due := time.NewTimer(0)
	due.Stop()
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due.C:
			signalSlot(w.changed)
			continue
		case <-events:
		case <-losses:
		case <-w.moved:
		case <-look.C:
		}
		w.watch(notify)
		if w.look() {
			due.Reset(quiet)
		}
	}
}

// look tells whether a file is another than at the last look.
func (w *watcher) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make(map[string]stamp, len(w.files))
	for _, f := range w.files {
		found[f] = stampOf(f)
	}
	other := !maps.Equal(found, w.seen)
	w.seen = found
	return other
}

// stirs tells whether a file is another than it was last seen. Changed then gets another signal.
func (w *watcher) stirs() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if stampOf(f) != w.seen[f] {
			return true
		}
	}
	return false
}

// watch has the system tell of the folders that lead to the files, and of no others.
func (w *watcher) watch(notify *fsnotify.Watcher) {
	if notify == nil {
		return
	}
	w.mu.Lock()
	wanted := map[string]bool{}
	for _, f := range w.files {
		addFolders(wanted, f)
	}
	w.mu.Unlock()
	for _, folder := range notify.WatchList() {
		if !wanted[folder] {
			_ = notify.Remove(folder) // it may be gone by itself
		}
		delete(wanted, folder)
	}
	for folder := range wanted {
		_ = notify.Add(folder) // one that is not there yet is seen by the folder above it
	}
}

// addFolders adds the folders in which something happens when a path comes to lead to another file:
// the one that holds it, and those that hold a symbolic link on the way. All are free of links.
func addFolders(folders map[string]bool, path string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return
	}
	real, rest := "/", strings.Split(strings.Trim(path, "/"), "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(real, rest[0])
		target, err := os.Readlink(next)
		switch {
		case err == nil && links < maxLinks:
			links++
			folders[real] = true
			if filepath.IsAbs(target) {
				real = "/"
			}
			rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest[1:]...)
			continue
		case len(rest) == 1 || !errors.Is(err, syscall.EINVAL): // what is there and no link is an invalid argument
			folders[real] = true
			if stat, err := os.Stat(next); err == nil && stat.IsDir() {
				folders[next] = true
			}
			return
		}
		real, rest = next, rest[1:]
	}
}
