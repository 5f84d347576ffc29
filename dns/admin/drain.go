package admin

import (
	"net/http"

	"gslb/config"
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
	bare := h.Snapshot().LeftBare(config.Drain{Target: d.Place, Service: d.Service})
	d.Bare = append(d.Bare, bare...)
	write(w, http.StatusOK, d)
}
