package admin

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"time"

	"gslb/config"
	"gslb/dns/steer"
)

// Drain is what a drain would do, as GET /v1/drain gives it.
type Drain struct {
	Place   string   `json:"place"`
	Service string   `json:"service,omitempty"`
	Bare    []string `json:"bare"` // services that would be left without a serving place
}

func (h *handler) drain(w http.ResponseWriter, r *http.Request) {
	d := Drain{Place: r.FormValue("place"), Service: r.FormValue("service"), Bare: []string{}}
	if d.Place == "" {
		refuse(w, http.StatusBadRequest, "place: not given")
		return
	}
	s := h.Snapshot()
	if refusesStranger(w, s, d.Service, d.Place) {
		return
	}
	bare := s.LeftBare(config.Drain{Target: d.Place, Service: d.Service})
	d.Bare = append(d.Bare, bare...)
	write(w, http.StatusOK, d)
}

// Drains is the drains that hold.
type Drains struct {
	Answers string      `json:"answers"` // the version of the snapshot
	Drains  []HeldDrain `json:"drains"`
}

// HeldDrain is a drain that holds.
type HeldDrain struct {
	steer.DrainOf
	Since time.Time `json:"since"` // when it began on this server
}

func (h *handler) drains(w http.ResponseWriter, _ *http.Request) {
	s := h.Snapshot()
	write(w, http.StatusOK, Drains{s.Version().String(), h.drainsOf(s, "")})
}

// drainsOf gives the drains of a place that hold; without a name, of every place.
func (h *handler) drainsOf(s *steer.Snapshot, place string) []HeldDrain {
	held, begun := []HeldDrain{}, h.Begun()
	for _, d := range s.Drains() {
		if place == "" || d.Place == place {
			since, ok := begun[steer.DrainKey{Place: d.Place, Service: d.Service}]
			if !ok {
				since = time.Now() // it began with the snapshot that was made just now
			}
			held = append(held, HeldDrain{d, since})
		}
	}
	return held
}

// DrainOrder is a drain that somebody wants, as POST /v1/drains takes it.
type DrainOrder struct {
	Place   string    `json:"place"`
	Service string    `json:"service,omitempty"` // empty: every service
	For     string    `json:"for,omitempty"`     // a span such as 2h, after which it ends; or
	Until   time.Time `json:"until,omitzero"`    // when it ends; neither: when it is taken away
	Reason  string    `json:"reason,omitempty"`
	By      string    `json:"by,omitempty"`
	Hard    bool      `json:"hard,omitempty"`  // not even when nobody else serves
	Force   string    `json:"force,omitempty"` // why it may leave a service fewer places than its min_places, or none
}

// drain reads the order.
func (o DrainOrder) drain(now time.Time) (config.Drain, error) {
	d := config.Drain{Target: o.Place, Service: o.Service, Until: o.Until, Reason: o.Reason, By: o.By, Hard: o.Hard, Force: o.Force}
	if o.For != "" {
		span, err := time.ParseDuration(o.For)
		switch {
		case err != nil || span <= 0:
			return d, errors.New("for: not a span such as 2h")
		case !o.Until.IsZero():
			return d, errors.New("for and until: give one of the two")
		}
		d.Until = now.Add(span).Round(time.Second)
	}
	switch {
	case o.Place == "":
		return d, errors.New("place: not given")
	case !d.Until.IsZero() && !d.Until.After(now):
		return d, errors.New("until: the drain would be over before it begins")
	}
	return d, nil
}

// Drained is what became of an order: the file that was written or removed, and the configuration that answers come from.
type Drained struct {
	Place   string    `json:"place"`
	Service string    `json:"service,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	File    string    `json:"file"`
	Reload  Reload    `json:"reload"`
	Holding []string  `json:"holding"` // where other drains of the place stand that hold on, as file:line:column
}

// NotThere says that an order names something that does not exist.
type NotThere struct{ Message string }

func (e *NotThere) Error() string { return e.Message }

// NotSo says that an order cannot be carried out as things stand.
type NotSo struct{ Message string }

func (e *NotSo) Error() string { return e.Message }

// orderBytes bounds the body of an order.
const orderBytes = 16 << 10

func (h *handler) beginDrain(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "content type %q: send application/json", r.Header.Get("Content-Type"))
		return
	}
	order, ok := readBody[DrainOrder](w, r, "drain", orderBytes)
	if !ok {
		return
	}
	d, err := order.drain(time.Now())
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	done, err := h.Deps.Drain(r.Context(), d)
	tellDrained(w, http.StatusCreated, done, err)
}

func (h *handler) endDrain(w http.ResponseWriter, r *http.Request) {
	done, err := h.Undrain(r.Context(), r.PathValue("place"), r.FormValue("service"))
	tellDrained(w, http.StatusOK, done, err)
}

func tellDrained(w http.ResponseWriter, code int, done Drained, err error) {
	var missing *NotThere
	var hindered *NotSo
	switch {
	case errors.As(err, &missing):
		refuse(w, http.StatusNotFound, "%v", err)
	case errors.As(err, &hindered):
		refuse(w, http.StatusConflict, "%v", err)
	case errors.Is(err, context.Canceled):
		refuse(w, http.StatusServiceUnavailable, "the server is ending: the file is written, and the drain is in force from its next start")
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, "%v", err)
	default:
		write(w, code, done)
	}
}
