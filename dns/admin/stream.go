package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"gslb/config/state"
)

// Bounds of the streams of events.
const (
	streamsMax    = 32               // at once
	streamWrite   = 10 * time.Second // that a client may take for what it is sent
	streamSilence = 15 * time.Second // after which it is sent a sign of life
	streamBatch   = 500              // events that are read at once
	streamRetry   = 2000             // milliseconds after which a client that lost us comes back
)

// stream sends events as they get into the journal, until the client goes away. The journal is its queue: a slow
// client is sent from where it is, keeps nobody waiting and loses nothing.
func (h *handler) stream(w http.ResponseWriter, r *http.Request) {
	if h.streams.Add(1) > streamsMax {
		h.streams.Add(-1)
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "%d clients follow the journal already: try again later", streamsMax)
		return
	}
	defer h.streams.Add(-1)
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		last = r.FormValue("last")
	}
	var err error
	if last == "" {
		last, err = h.Newest()
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "%v", err)
		return
	}
	f := follower{w: w, to: http.NewResponseController(w), last: last, filter: h.filterOf(r)}
	more := h.Appended() // before the first look, so that nothing is missed
	events, err := h.After(last, streamBatch)
	if err != nil {
		refuse(w, http.StatusBadRequest, "last %q: %v", last, err)
		return
	}
	_ = f.to.SetReadDeadline(time.Time{}) // the client has said all that it will
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if !f.send(fmt.Sprintf("retry: %d\n\n", streamRetry)) {
		return
	}
	h.follow(r, f, events, more)
}

// follow sends what there is, and waits for more.
func (h *handler) follow(r *http.Request, f follower, events []state.Event, more <-chan struct{}) {
	silence := time.NewTicker(streamSilence)
	defer silence.Stop()
	for {
		if !f.tell(events) {
			return
		}
		if len(events) < streamBatch {
			select {
			case <-r.Context().Done():
				return
			case <-silence.C:
				if !f.send(": still here\n\n") {
					return
				}
			case <-more:
			}
		}
		more = h.Appended()
		var err error
		if events, err = h.After(f.last, streamBatch); err != nil {
			return // the client comes back, and is told
		}
	}
}

// follower is one client that follows the journal.
type follower struct {
	w      http.ResponseWriter
	to     *http.ResponseController
	last   string // the event that it was sent last, or passed over
	filter filter
}

// tell sends events. It gives false when the client is gone.
func (f *follower) tell(events []state.Event) bool {
	var text []byte
	for _, e := range events {
		f.last = e.ID
		if !f.filter.wants(e) {
			continue
		}
		data, err := json.Marshal(Event(e))
		if err != nil {
			return false
		}
		text = fmt.Appendf(text, "id: %s\ndata: %s\n\n", e.ID, data)
	}
	return len(text) == 0 || f.send(string(text))
}

func (f *follower) send(text string) bool {
	if f.to.SetWriteDeadline(time.Now().Add(streamWrite)) != nil {
		return false
	}
	if _, err := f.w.Write([]byte(text)); err != nil {
		return false
	}
	return f.to.Flush() == nil
}
