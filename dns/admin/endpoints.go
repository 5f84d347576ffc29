package admin

import (
	"iter"
	"net/http"
	"strings"
	"time"

	"gslb/dns/steer"
)

// Endpoints is a page of endpoints.
type Endpoints struct {
	Answers   string     `json:"answers"` // the version of the snapshot
	Endpoints []Endpoint `json:"endpoints"`
	Next      string     `json:"next,omitempty"` // where the next page begins
}

// Endpoint is one endpoint of a place for a service.
type Endpoint struct {
	Service  string `json:"service"`
	Place    string `json:"place"`
	Standing string `json:"standing"` // of the place for the service
	steer.EndpointView
	Took []float64 `json:"took,omitempty"` // seconds of the last probes, oldest first, as many as there were since the start, at most 20
}

// Bounds of the pages of endpoints.
const (
	defaultEndpoints = 200
	maxEndpoints     = 2000
)

// endpointFilter is of which endpoints are asked for; an empty field: of all.
type endpointFilter struct{ service, place, address, check, verdict string }

func (f endpointFilter) wants(e Endpoint) bool {
	if f.verdict == "failing" && e.Failed == 0 || f.verdict != "" && f.verdict != "failing" && f.verdict != e.Verdict {
		return false
	}
	return (f.address == "" || f.address == e.Address) && (f.check == "" || f.check == e.Check)
}

func (h *handler) endpoints(w http.ResponseWriter, r *http.Request) {
	limit, err := parseLimit(r.FormValue("limit"), defaultEndpoints, maxEndpoints)
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	s, from := h.Snapshot(), r.FormValue("from")
	f := endpointFilter{r.FormValue("service"), r.FormValue("place"), r.FormValue("address"), r.FormValue("check"), r.FormValue("verdict")}
	if refusesStranger(w, s, f.service, f.place) {
		return
	}
	page := Endpoints{Answers: s.Version().String(), Endpoints: []Endpoint{}}
	first, _, _ := strings.Cut(from, "/")
	for e := range h.allEndpoints(s, f, first) {
		at := e.Service + "/" + e.Place + "/" + e.Address
		if !f.wants(e) || from != "" && at != from {
			continue
		}
		from = ""
		if len(page.Endpoints) >= limit {
			page.Next = at
			break
		}
		page.Endpoints = append(page.Endpoints, e)
	}
	if from != "" {
		refuse(w, http.StatusBadRequest, "from %q: not an endpoint any more; begin with the first page", from)
		return
	}
	write(w, http.StatusOK, page)
}

// allEndpoints goes over the endpoints of the services and places that are asked for, from a service on; "": the first.
func (h *handler) allEndpoints(s *steer.Snapshot, f endpointFilter, from string) iter.Seq[Endpoint] {
	return func(yield func(Endpoint) bool) {
		now := time.Now()
		for i, svc := range s.Policy().Services() {
			if from != "" && svc.Name() != from {
				continue
			}
			from = ""
			if f.service != "" && svc.Name() != f.service || f.place != "" && !svc.At(f.place) {
				continue
			}
			for _, p := range s.View(i, now).Places {
				for _, e := range p.Endpoints {
					if (f.place == "" || p.Place == f.place) && !yield(h.endpointOf(svc.Name(), p, e)) {
						return
					}
				}
			}
		}
	}
}

func (h *handler) endpointOf(service string, p steer.PlaceView, e steer.EndpointView) Endpoint {
	view := Endpoint{Service: service, Place: p.Place, Standing: p.Standing, EndpointView: e}
	if e.Check == "" {
		return view
	}
	for _, d := range h.History(e.Key).Took {
		view.Took = append(view.Took, d.Seconds())
	}
	return view
}
