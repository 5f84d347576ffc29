package admin

import (
	"net/http"
	"net/netip"
	"slices"
	"time"

	"gslb/bgp"
	"gslb/dns/steer"
)

// Server is how the server as a whole stands.
type Server struct {
	Ready  bool             `json:"ready"` // the sockets are open
	Since  time.Time        `json:"since"` // when the process started
	Config Config           `json:"config"`
	Listen []netip.AddrPort `json:"listen"` // the DNS addresses that are served
	Saving Saving           `json:"saving"`
}

// Saving is whether what is to survive a restart reaches the disk: verdicts, windows, routes and the journal.
type Saving struct {
	File    string    `json:"file"`
	At      time.Time `json:"at"`                // what was known then is on the disk; zero: nothing yet
	Took    float64   `json:"took"`              // seconds that this took
	Failing string    `json:"failing,omitempty"` // why nothing is saved
	Since   time.Time `json:"since,omitzero"`    // since when
}

// Config is the configuration in force, and what became of later ones.
type Config struct {
	File     string    `json:"file"`
	Number   uint64    `json:"number"`
	Hash     string    `json:"hash"`
	Loaded   time.Time `json:"loaded"`
	Refused  *Refusal  `json:"refused,omitempty"` // nil when the files hold what is in force
	Failures uint64    `json:"failures"`          // reloads that were refused since the start
	Reloads  uint64    `json:"reloads"`           // reloads that put another configuration in force since then
}

// Refusal is a reload that changed nothing, since its files had problems.
type Refusal struct {
	Time     time.Time `json:"time"`
	Problems []string  `json:"problems"`
}

// TraceView is how the query log, or a reader of dnstap, fares with the copies of questions and answers that it gets.
type TraceView struct {
	Sink  string `json:"sink"`
	Taken uint64 `json:"taken"` // since the configuration named it
	Lost  uint64 `json:"lost"`  // for want of a reader that kept up
}

// ConfigInForce is what GET /v1/config gives.
type ConfigInForce struct {
	Answers string `json:"answers"` // the version of the snapshot that answers come from
	Config
}

func (h *handler) config(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, ConfigInForce{h.Snapshot().Version().String(), h.Server().Config})
}

// Status is what GET /v1/status gives. Its services are a page of them.
type Status struct {
	Version string `json:"version"`
	Server
	Geo      string              `json:"geo"`
	Answers  string              `json:"answers"` // the version of the snapshot that answers come from, as reasons show it
	Brake    steer.BrakeView     `json:"brake"`
	Totals   Totals              `json:"totals"`
	Services []steer.ServiceView `json:"services"`
	Next     string              `json:"next,omitempty"` // where the next page begins
}

// Totals counts what there is.
type Totals struct {
	Services    int `json:"services"`
	Served      int `json:"served"` // of the services: some place serves
	Places      int `json:"places"`
	Endpoints   int `json:"endpoints"`
	Up          int `json:"up"` // of the endpoints
	Drains      int `json:"drains"`
	Sessions    int `json:"sessions"`
	Established int `json:"established"` // of the sessions
	Prefixes    int `json:"prefixes"`    // of partners, and of the configuration

	Questions uint64 `json:"questions"` // that came in since the start
}

// Bounds of the pages of services. A page ends early when it holds many endpoints.
const (
	defaultServices = 100
	maxServices     = 1000
	maxPageRows     = 2000
)

func (h *handler) status(w http.ResponseWriter, r *http.Request) {
	s, now := h.Snapshot(), time.Now()
	limit, err := parseLimit(r.FormValue("limit"), defaultServices, maxServices)
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	v := Status{
		Version: h.Deps.Version, Server: h.Server(), Geo: s.Geo().Name(), Answers: s.Version().String(),
		Brake: s.Brake(), Totals: h.totals(s, now), Services: []steer.ServiceView{},
	}
	service, place := r.FormValue("service"), r.FormValue("place")
	if refusesStranger(w, s, service, place) {
		return
	}
	rows, from := 0, r.FormValue("from")
	for i, svc := range s.Policy().Services() {
		if from != "" && svc.Name() != from || service != "" && svc.Name() != service || place != "" && !svc.At(place) {
			continue
		}
		from = ""
		if len(v.Services) >= limit || rows >= maxPageRows {
			v.Next = svc.Name()
			break
		}
		view := s.View(i, now)
		for _, p := range view.Places {
			rows += len(p.Endpoints)
		}
		v.Services = append(v.Services, view)
	}
	if from != "" {
		refuse(w, http.StatusBadRequest, "from %q: not a service any more; begin with the first page", from)
		return
	}
	write(w, http.StatusOK, v)
}

// stranger says that the configuration has no such service or place; "" where it has, or none is named.
func stranger(s *steer.Snapshot, service, place string) string {
	if place != "" && !slices.Contains(s.Policy().PlaceNames(), place) {
		return unknownPlace(s, place)
	}
	if service == "" {
		return ""
	}
	for _, svc := range s.Policy().Services() {
		if svc.Name() == service {
			return ""
		}
	}
	return unknownService(s.Policy(), service)
}

// refusesStranger refuses to tell of a service or place that the configuration has not; "" is none.
func refusesStranger(w http.ResponseWriter, s *steer.Snapshot, service, place string) bool {
	words := stranger(s, service, place)
	if words != "" {
		refuse(w, http.StatusNotFound, "%s", words)
	}
	return words != ""
}

func (h *handler) totals(s *steer.Snapshot, now time.Time) Totals {
	t := Totals{Drains: len(s.Drains())}
	for i := range s.Policy().Services() {
		t.Services++
		if s.Served(i) {
			t.Served++
		}
	}
	for _, p := range s.Places(now) {
		t.Places++
		t.Endpoints += p.Endpoints
		t.Up += p.Up
	}
	for _, p := range h.Peers() {
		t.Sessions++
		if p.State == bgp.Established {
			t.Established++
		}
	}
	t.Prefixes = h.Routes().Len()
	for _, n := range h.Counts.Queries() {
		t.Questions += n
	}
	return t
}
