package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/config"
	"gslb/config/state"
	"gslb/dns"
	"gslb/dns/admin/page"
	"gslb/dns/publish"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/health"
	"gslb/health/spread"
)

// Deps is how the handler looks at the server. Every function is safe for concurrent use.
type Deps struct {
	Version   string                     // of the program
	Listen    netip.AddrPort             // where the handler is served
	Tokens    func() []config.AdminToken // who may ask; none: see [New]
	Certified func(host string) bool     // whether the certificate that is shown is for the host; nil: none is
	Log       *slog.Logger
	Snapshot  func() *steer.Snapshot // the newest one; never nil
	Server    func() Server
	Events    func(since time.Time, limit int) ([]state.Event, error)
	After     func(id string, limit int) ([]state.Event, error) // those that come after one; see [state.Store.After]
	Newest    func() (id string, err error)
	Appended  func() <-chan struct{}                // closed when there is more to read than at the time of the call
	Reload    func(context.Context) (Reload, error) // waits for the outcome
	Counts    *dns.Counts
	Traces    func() []TraceView            // who gets copies of questions and answers
	Buffers   func() map[netip.AddrPort]int // octets of the receive buffers of UDP sockets
	Happened  func() map[string]uint64      // events since the start, by kind

	Routes    func() *bgp.Table          // the newest one; never nil
	Peers     func() []bgp.PeerView      // every BGP session
	Listeners func() []bgp.ListenView    // where partners may open sessions
	RPKI      func() []rpki.View         // where origins are judged by
	Reset     func(peer netip.Addr) bool // begins a peer's session anew; false: there is no such peer

	Drain   func(context.Context, config.Drain) (Drained, error)              // writes its file, and waits until it is in force
	Undrain func(ctx context.Context, place, service string) (Drained, error) // removes its file, and waits until that is in force

	Begun func() map[steer.DrainKey]time.Time     // since when drains hold
	Load  func(health.Target) (health.Load, bool) // that was told last

	History  func(health.Key) health.History
	Gaps     func() health.Gaps
	Lag      func() spread.Sum                   // of probes
	Probes   func() map[health.Ending]spread.Sum // how long they took
	InFlight func() int                          // probes that are under way
	Built    func() publish.Built                // the snapshots

	Signed   *sign.Counts                                             // signatures that were made
	Outlooks func() []sign.Outlook                                    // of signed zones
	Shown    func() map[string]Lifetime                               // certificates, by whom they are shown: admin, tls, https or quic
	Report   func(check string, endpoint netip.Addr, r health.Result) // what is said of an endpoint of a push check
}

// Lifetime is from when until when a certificate is good.
type Lifetime struct{ From, Until time.Time }

// New makes the handler. Without tokens whoever reaches it may look and operate, and this machine may drain.
func New(d Deps) http.Handler {
	h := &handler{Deps: d, gate: &gate{tokens: d.Tokens, log: d.Log}}
	mux := http.NewServeMux()
	small := &squeezers{}
	for _, o := range h.operations() {
		serve := o.checked(o.serve)
		if o.gives != nil {
			serve = small.squeezed(serve)
		}
		mux.HandleFunc(o.method+" "+o.path, h.gate.guarded(o.role, serve))
	}
	mux.Handle("/v1/", nothing(mux))
	files := page.Handler() // open to whoever reaches the door: there is no data in them
	mux.Handle("GET /{$}", files)
	mux.Handle("GET /page/", files)
	return ownHost(d, ownSite(mux))
}

type handler struct {
	Deps
	gate    *gate
	counted atomic.Pointer[counted] // of the newest table that somebody asked about
	named   atomic.Pointer[named]   // of the newest policy that somebody asked about
	streams atomic.Int64            // that are open
}

// Version is what GET /v1/version gives.
type Version struct {
	Version string `json:"version"`
}

func (h *handler) version(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, Version{h.Deps.Version})
}

// healthz tells that the process lives.
func (h *handler) healthz(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// readyz tells whether questions are answered: not before the first results of the checks.
func (h *handler) readyz(w http.ResponseWriter, _ *http.Request) {
	if !h.Server().Ready {
		http.Error(w, "not ready: the checks have not had their first results", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// Reload is the outcome of reading the configuration again.
type Reload struct {
	Outcome  Outcome  `json:"outcome"`
	Number   uint64   `json:"number"` // of the configuration that is in force now
	Hash     string   `json:"hash"`   // of the same
	Problems []string `json:"problems,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Outcome is how reading the configuration again ended.
type Outcome string

const (
	// Applied says that the new configuration is in force: answers come from it.
	Applied Outcome = "applied"
	// Unchanged says that the files hold what is in force already.
	Unchanged Outcome = "unchanged"
	// Refused says that the files have problems, and nothing has changed.
	Refused Outcome = "refused"
)

func (h *handler) reload(w http.ResponseWriter, r *http.Request) {
	outcome, err := h.Reload(r.Context())
	switch {
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, "reload: %v", err)
	case outcome.Outcome == Refused:
		write(w, http.StatusUnprocessableEntity, outcome)
	default:
		write(w, http.StatusOK, outcome)
	}
}

// Failure is the body of every answer that is not what was asked for.
type Failure struct {
	Error string `json:"error"`
}

func refuse(w http.ResponseWriter, code int, format string, args ...any) {
	write(w, code, Failure{fmt.Sprintf(format, args...)})
}

func write[T any](w http.ResponseWriter, code int, body T) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	_ = out.Encode(body) // a client that has gone away misses nothing
}
