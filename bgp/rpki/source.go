package rpki

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// fileLook is how often the file is looked at for a change.
const fileLook = 2 * time.Second

// From says where VRPs come from. It is empty when nothing is to be judged.
type From struct {
	File string   // a JSON file; empty: none
	RTR  []string // caches, as host and port
}

// View is one place that VRPs come from, as an operator sees it.
type View struct {
	From    string    `json:"from"`
	State   string    `json:"state"`
	VRPs    int       `json:"vrps"`
	Updated time.Time `json:"updated,omitzero"`
}

// Source follows everything that VRPs come from, and keeps their union.
type Source struct {
	log     *slog.Logger
	changed chan struct{} // one slot
	applied chan struct{} // one slot
	latest  atomic.Pointer[Set]

	mu      sync.Mutex
	from    From
	clients map[string]*client
	file    fileState
}

type fileState struct {
	vrps    []VRP
	state   string
	updated time.Time
}

// NewSource makes a source that follows nothing yet.
func NewSource(log *slog.Logger) *Source {
	return &Source{log: log, changed: make(chan struct{}, 1), applied: make(chan struct{}, 1), clients: map[string]*client{}}
}

// Latest is the newest set; nil when nothing is to be judged.
func (s *Source) Latest() *Set { return s.latest.Load() }

// Changed gets a signal when there is a newer set.
func (s *Source) Changed() <-chan struct{} { return s.changed }

// Apply makes the source follow what is wanted. Run brings it about.
func (s *Source) Apply(from From) {
	s.mu.Lock()
	s.from = From{from.File, slices.Clone(from.RTR)}
	s.mu.Unlock()
	signal(s.applied)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Views shows every place that VRPs come from.
func (s *Source) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	var views []View
	if s.from.File != "" {
		views = append(views, View{s.from.File, s.file.state, len(s.file.vrps), s.file.updated})
	}
	for _, address := range s.from.RTR {
		if c := s.clients[address]; c != nil {
			c.mu.Lock()
			views = append(views, View{address, c.state, len(c.latest), c.updated})
			c.mu.Unlock()
		}
	}
	return views
}

// Run follows the file and the caches until ctx ends.
func (s *Source) Run(ctx context.Context) error {
	var crew sync.WaitGroup
	defer crew.Wait()
	ends := map[string]context.CancelFunc{}
	look := time.NewTicker(fileLook)
	defer look.Stop()
	var seen os.FileInfo
	for {
		select {
		case <-ctx.Done():
			for _, end := range ends {
				end()
			}
			return nil
		case <-s.applied:
			s.follow(ctx, &crew, ends)
			s.gather()
			seen = nil
		case <-look.C:
		}
		seen = s.look(seen)
	}
}

// follow starts and ends clients until they are the wanted ones.
func (s *Source) follow(ctx context.Context, crew *sync.WaitGroup, ends map[string]context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for address, end := range ends {
		if !slices.Contains(s.from.RTR, address) {
			end()
			delete(ends, address)
			delete(s.clients, address)
		}
	}
	for _, address := range s.from.RTR {
		if ends[address] != nil {
			continue
		}
		life, end := context.WithCancel(ctx)
		c := newClient(address, s.log, s.gather)
		ends[address], s.clients[address] = end, c
		crew.Go(func() { c.run(life) })
	}
	if s.from.File == "" {
		s.file = fileState{}
	}
}

// look reads the file when it is another than the one seen last. A bad one changes nothing.
func (s *Source) look(seen os.FileInfo) os.FileInfo {
	s.mu.Lock()
	name := s.from.File
	s.mu.Unlock()
	if name == "" {
		return nil
	}
	now, err := os.Stat(name)
	if err == nil && seen != nil && os.SameFile(now, seen) && now.Size() == seen.Size() && now.ModTime().Equal(seen.ModTime()) {
		return seen
	}
	var vrps []VRP
	if err == nil {
		vrps, err = ReadFile(name)
	}
	s.mu.Lock()
	before := s.file.state
	if err != nil {
		s.file.state = "not read: " + err.Error()
	} else {
		s.file = fileState{vrps, "read", time.Now()}
	}
	tell := s.file.state != before
	s.mu.Unlock()
	if err != nil {
		if tell {
			s.log.Error("rpki file not read: the VRPs before it stay", "cause", err)
		}
		return now
	}
	s.log.Info("rpki file read", "file", name, "vrps", len(vrps))
	s.gather()
	return now
}

// gather makes the union of what all have. It is nil while nobody has anything: then nothing is judged.
func (s *Source) gather() {
	s.mu.Lock()
	var vrps []VRP
	known := s.file.vrps != nil
	vrps = append(vrps, s.file.vrps...)
	for _, c := range s.clients {
		c.mu.Lock()
		known = known || c.latest != nil
		vrps = append(vrps, c.latest...)
		c.mu.Unlock()
	}
	var set *Set
	if known {
		set = NewSet(vrps)
	}
	s.latest.Store(set)
	s.mu.Unlock()
	signal(s.changed)
}
