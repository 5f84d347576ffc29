package demo

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// mood is how a place's web server behaves.
type mood uint8

const (
	sound   mood = iota // answers
	broken              // answers 503
	hung                // takes connections, and never answers
	stopped             // refuses connections
)

// String says what clients meet.
func (m mood) String() string {
	switch m {
	case broken:
		return "broken: answers status 503"
	case hung:
		return "hung: takes connections and does not answer"
	case stopped:
		return "stopped: refuses connections"
	}
	return "sound: answers status 200"
}

// moodOf gives the mood that a word of the demo brings about.
func moodOf(word string) (mood, bool) {
	switch word {
	case "break":
		return broken, true
	case "hang":
		return hung, true
	case "stop":
		return stopped, true
	case "heal", "start":
		return sound, true
	}
	return sound, false
}

// place is a datacenter or a site: a web server that can go wrong in all the ways that checks find.
type place struct {
	site
	address netip.AddrPort
	tell    *teller

	mu     sync.Mutex
	mood   mood
	thaw   chan struct{} // closed when the place is no longer hung
	server *http.Server  // nil while stopped
	ended  chan struct{} // closed when server's goroutine has ended
}

// openPlace starts a place on a listener that is open already.
func openPlace(s site, door net.Listener, t *teller) *place {
	p := &place{site: s, address: door.Addr().(*net.TCPAddr).AddrPort(), tell: t, thaw: make(chan struct{})}
	p.serve(door)
	return p
}

// serve begins to answer. Its caller holds mu, or is the only one that knows the place.
func (p *place) serve(door net.Listener) {
	server := &http.Server{Handler: p.handler(), ReadHeaderTimeout: 5 * time.Second}
	p.server, p.ended = server, make(chan struct{})
	go func(ended chan struct{}) {
		defer close(ended)
		if err := server.Serve(door); !errors.Is(err, http.ErrServerClosed) {
			p.tell.say(bad, fmt.Sprintf("%s: its web server ended: %v", p.Name, err))
		}
	}(p.ended)
}

// become changes how the place behaves, and tells of it.
func (p *place) become(m mood) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mood == m {
		p.tell.say(dim, fmt.Sprintf("%s is %s already", p.Name, m))
		return nil
	}
	if p.server == nil {
		door, err := net.Listen("tcp", p.address.String())
		if err != nil {
			return fmt.Errorf("%s cannot start again: %w", p.Name, err)
		}
		p.serve(door)
	}
	if p.mood == hung {
		close(p.thaw)
		p.thaw = make(chan struct{})
	}
	p.mood = m
	if m == stopped {
		p.shut()
	}
	p.tell.say(note, fmt.Sprintf("%s is now %s", p.Name, m))
	return nil
}

// shut ends the web server and waits for it. Its caller holds mu.
func (p *place) shut() {
	if p.server == nil {
		return
	}
	_ = p.server.Close() // that clients are cut off is the point
	<-p.ended
	p.server = nil
}

func (p *place) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut()
}

func (p *place) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, "OK") })
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		p.answer(w, r, "This is "+p.Name+", a "+p.About+".")
	})
	for _, word := range []string{"break", "heal", "hang"} {
		mux.HandleFunc("POST /"+word, func(w http.ResponseWriter, _ *http.Request) {
			m, _ := moodOf(word)
			if err := p.become(m); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, "%s is now %s\n", p.Name, m)
		})
	}
	return mux
}

// answer answers as the mood has it.
func (p *place) answer(w http.ResponseWriter, r *http.Request, text string) {
	p.mu.Lock()
	m, thaw := p.mood, p.thaw
	p.mu.Unlock()
	switch m {
	case hung:
		select {
		case <-thaw:
		case <-r.Context().Done():
		}
		return
	case broken:
		http.Error(w, p.Name+" is broken", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, text)
}
