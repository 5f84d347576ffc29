package geo

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Source keeps a [Map] current while its files change. All methods may be called at any time from any goroutine; [Source.Run]
// is what watches the files.
type Source struct {
	log     *slog.Logger
	pace    pace
	open    func(Files) (*Map, error)
	latest  atomic.Pointer[Map]
	changed chan struct{} // one slot: there is a map that the reader has not seen
	moved   chan struct{} // one slot: files is another than Run knows

	mu     sync.Mutex
	files  Files
	stamps stamps // of files, taken before latest was read from them
}

// pace says how long the watcher waits for what.
type pace struct {
	quiet time.Duration // a change is read when none followed it for so long
	again time.Duration // a file that could not be read is read once more after it, before that is told
	poll  time.Duration // files are looked at, however silent the system is about them
}

// NewSource loads the first map, with version 1, or gives the reason why there is none.
func NewSource(f Files, log *slog.Logger) (*Source, error) {
	s := &Source{
		log:     log,
		pace:    pace{quiet: 300 * time.Millisecond, again: 2 * time.Second, poll: time.Minute},
		open:    Open,
		changed: make(chan struct{}, 1),
		moved:   make(chan struct{}, 1),
	}
	e, err := s.read(f)
	if err != nil {
		return nil, err
	}
	s.publish(e, true)
	return s, nil
}

// Latest is the newest map; never nil.
func (s *Source) Latest() *Map { return s.latest.Load() }

// Changed has a value when there is a newer map than the reader took last. Several changes are one value.
func (s *Source) Changed() <-chan struct{} { return s.changed }

// Prepare loads other files, and gives what makes them the ones that are in use and watched. Until that is
// called, and on an error, all stays as it was.
func (s *Source) Prepare(f Files) (use func(), err error) {
	if now, _ := s.state(); f == now {
		return func() {}, nil // the watcher sees to their content
	}
	e, err := s.read(f)
	if err != nil {
		return nil, err
	}
	return func() {
		s.publish(e, true)
		signal(s.moved)
	}, nil
}

// state is the files in use, and their stamps when they were read.
func (s *Source) state() (Files, stamps) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files, s.stamps
}

// edition is a map with what it was read from.
type edition struct {
	files  Files
	stamps stamps
	read   *Map
}

// read makes a map of files. The stamps are taken first, so a change while it reads is seen as one afterwards.
func (s *Source) read(f Files) (edition, error) {
	e := edition{files: f, stamps: stampsOf(f)}
	var err error
	e.read, err = s.open(f)
	return e, err
}

// publish puts a map in place. It turns the source to the files of the map, or else, if the source turned to other files
// while the map was read, drops it.
func (s *Source) publish(e edition, turn bool) {
	m, ok := s.replace(e, turn)
	if !ok {
		return
	}
	s.log.Info("geo database loaded", "database", m.Name(), "version", m.Version())
	signal(s.changed)
}

func (s *Source) replace(e edition, turn bool) (m *Map, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !turn && e.files != s.files {
		return nil, false
	}
	m = new(*e.read)
	if old := s.latest.Load(); old != nil {
		m.version = old.version + 1
	}
	s.latest.Store(m)
	s.files, s.stamps = e.files, e.stamps
	return m, true
}

// signal fills the slot of a channel, which may be full: the reader looks at the state, not at the number of signals.
func signal(slot chan<- struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}

// stamps tell whether files changed: one for each database of [Files], nil where there is none on disk.
type stamps [2]os.FileInfo

func stampsOf(f Files) stamps {
	var s stamps
	for i, path := range f.paths() {
		if info, err := os.Stat(path); err == nil {
			s[i] = info
		}
	}
	return s
}

// equal reports whether nothing changed. That the file is the same one counts too: a new file may have size and time of the
// old one, as the clock of a file system is coarse and copies can keep the time.
func (s stamps) equal(o stamps) bool {
	return slices.EqualFunc(s[:], o[:], func(a, b os.FileInfo) bool {
		if a == nil || b == nil {
			return a == b
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	})
}

// Run watches the files until ctx ends, and loads them when they change. The folders are watched rather than the files,
// since databases are replaced by renaming and by turning symbolic links. A file that cannot be read leaves the map as it
// was, which is logged once for each state of the files; one that cannot be opened is tried again from time to time,
// for it may be opened to us later, of which its stamps do not tell. The error is always nil.
func (s *Source) Run(ctx context.Context) error {
	w := newWatch(s)
	defer w.close()
	poll := time.NewTicker(s.pace.poll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.due.C:
			w.load()
		case <-w.events():
			w.look()
		case <-w.losses():
			w.look()
		case <-s.moved:
			w.look()
		case <-poll.C:
			w.look()
			w.retry()
		}
	}
}
