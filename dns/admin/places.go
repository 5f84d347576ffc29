package admin

import (
	"net/http"
	"time"

	"gslb/dns/steer"
)

// Places is a page of places.
type Places struct {
	Answers string  `json:"answers"` // the version of the snapshot
	Total   int     `json:"total"`
	Given   uint64  `json:"given"` // answers since the start, of all services; those that gave several places count for each
	Places  []Place `json:"places"`
	Next    string  `json:"next,omitempty"` // where the next page begins
}

// Place is one place, with what it was given for all services together.
type Place struct {
	steer.PlaceOverview
	Given uint64  `json:"given"` // answers since the start that gave it
	Share float64 `json:"share"` // of all of them
}

// Bounds of the pages of places.
const (
	defaultPlaces = 500
	maxPlaces     = 5000
)

func (h *handler) places(w http.ResponseWriter, r *http.Request) {
	s := h.Snapshot()
	limit, err := parseLimit(r.FormValue("limit"), defaultPlaces, maxPlaces)
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	of, page := map[string]uint64{}, Places{Answers: s.Version().String(), Places: []Place{}}
	for key, g := range h.shares() {
		of[key[1]] += g.total
		page.Given += g.total
	}
	from, only := r.FormValue("from"), r.FormValue("place")
	if refusesStranger(w, s, "", only) {
		return
	}
	for _, view := range s.Places(time.Now()) {
		if only != "" && view.Place != only {
			continue
		}
		page.Total++
		if from != "" && view.Place != from {
			continue
		}
		from = ""
		if len(page.Places) >= limit {
			if page.Next == "" {
				page.Next = view.Place
			}
			continue
		}
		p := Place{PlaceOverview: view, Given: of[view.Place]}
		if page.Given > 0 {
			p.Share = float64(p.Given) / float64(page.Given)
		}
		page.Places = append(page.Places, p)
	}
	if from != "" {
		refuse(w, http.StatusBadRequest, "from %q: not a place any more; begin with the first page", from)
		return
	}
	write(w, http.StatusOK, page)
}
