package admin

import (
	"net/http"
	"net/netip"
	"time"

	"gslb/dns/steer"
)

// Server is how the server as a whole stands.
type Server struct {
	Ready  bool             `json:"ready"` // the sockets are open
	Since  time.Time        `json:"since"` // when the process started
	Config Config           `json:"config"`
	Listen []netip.AddrPort `json:"listen"` // the DNS addresses that are served
}

// Config is the configuration in force, and what became of later ones.
type Config struct {
	File     string    `json:"file"`
	Number   uint64    `json:"number"`
	Hash     string    `json:"hash"`
	Loaded   time.Time `json:"loaded"`
	Refused  *Refusal  `json:"refused,omitempty"` // nil when the files hold what is in force
	Failures uint64    `json:"failures"`          // reloads that were refused since the start
}

// Refusal is a reload that changed nothing, since its files had problems.
type Refusal struct {
	Time     time.Time `json:"time"`
	Problems []string  `json:"problems"`
}

// Status is what GET /v1/status gives.
type Status struct {
	Version string `json:"version"`
	Server
	Geo      string              `json:"geo"`
	Answers  string              `json:"answers"` // the version of the snapshot that answers come from, as reasons show it
	Brake    steer.BrakeView     `json:"brake"`
	Services []steer.ServiceView `json:"services"`
}

func (h *handler) status(w http.ResponseWriter, _ *http.Request) {
	s := h.Snapshot()
	write(w, http.StatusOK, Status{
		Version: h.Deps.Version, Server: h.Server(), Geo: s.Geo().Name(),
		Answers: s.Version().String(), Brake: s.Brake(), Services: s.Overview(time.Now()),
	})
}
