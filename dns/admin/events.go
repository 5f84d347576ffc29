package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"gslb/config/state"
	"gslb/dns/steer"
)

// Event is one line of the journal.
type Event struct {
	ID     string            `json:"id"` // its place in the journal: later events have greater ones
	Time   time.Time         `json:"time"`
	Kind   string            `json:"kind"`
	Text   string            `json:"text"`
	Fields map[string]string `json:"fields,omitempty"`
}

// MostEvents is how many events are given at once at most.
const MostEvents = 10000

const defaultEvents = 100

// events gives the newest events, oldest first.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	since, err := parseSince(r.FormValue("since"), time.Now())
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	limit, err := parseLimit(r.FormValue("limit"), defaultEvents, MostEvents)
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	f := h.filterOf(r)
	read := limit
	if !f.all() {
		read = 0 // how far back the wanted ones reach is not known
	}
	journal, err := h.Events(since, read)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "%v", err)
		return
	}
	events := make([]Event, 0, min(limit, len(journal)))
	for _, e := range slices.Backward(journal) {
		if len(events) == limit {
			break
		}
		if f.wants(e) {
			events = append(events, Event(e))
		}
	}
	if stranger := stranger(h.Snapshot(), f.service, f.place); len(events) == 0 && stranger != "" { // those of the past may be known
		refuse(w, http.StatusNotFound, "%s", stranger)
		return
	}
	slices.Reverse(events)
	write(w, http.StatusOK, events)
}

// filter is of what events are asked for; an empty field: of all.
type filter struct {
	place, service, kind string
	concerns             func(service string, at steer.Scene) bool
}

func (h *handler) filterOf(r *http.Request) filter {
	f := filter{place: r.FormValue("place"), service: r.FormValue("service"), kind: r.FormValue("kind")}
	if f.service != "" {
		f.concerns = h.Snapshot().Concerns // of the configuration that is in force now
	}
	return f
}

// all tells whether every event is wanted.
func (f filter) all() bool { return f.place == "" && f.service == "" && f.kind == "" }

// wants tells whether an event is wanted. Of a service is what names it, and what happened to its places and
// endpoints without naming a service.
func (f filter) wants(e state.Event) bool {
	if f.kind != "" && e.Kind != f.kind || f.place != "" && e.Fields["place"] != f.place {
		return false
	}
	if named := e.Fields["service"]; f.service == "" || named != "" {
		return f.service == "" || named == f.service
	}
	place := e.Fields["place"]
	return place != "" && f.concerns(f.service, steer.Scene{Place: place, Endpoint: e.Fields["endpoint"], Check: e.Fields["check"]})
}

// parseSince reads a time, or a span that ends now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("since %q: not a span such as 1h, nor a time such as 2026-12-24T06:00:00Z", text)
	}
	return t, nil
}

// parseLimit reads how many things are asked for; without a text they are as many as usual.
func parseLimit(text string, usual, most int) (int, error) {
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("limit %q: not a number from 1 to %d", text, most)
	}
	return n, nil
}
