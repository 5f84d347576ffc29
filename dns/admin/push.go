package admin

import (
	"errors"
	"net/http"
	"net/netip"

	"gslb/health"
)

// Report is the result of a push check for one endpoint. POST /v1/push/CHECK takes a list of them, with the
// token of the check as "Authorization: Bearer TOKEN".
type Report struct {
	Endpoint netip.Addr `json:"endpoint"` // the address that is probed
	OK       *bool      `json:"ok"`
	Cause    string     `json:"cause,omitempty"` // of a failure
	Load     *float64   `json:"load,omitempty"`  // what it carries, in any unit in which 0 is nothing: a drain shows it
}

const (
	pushBytes   = 256 << 10 // of the body of one request
	pushReports = 4096      // in one request
)

// push hands reports to their checks: all of a request, or none.
func (h *handler) push(w http.ResponseWriter, r *http.Request) {
	if h.gate.shuts(w, r) {
		return
	}
	check := r.PathValue("check")
	token, addresses, ok := h.Snapshot().Policy().Pushed(check)
	text, shown := bearer(r)
	err := health.ErrToken
	if ok && shown {
		err = token.Fits(text)
	}
	switch {
	case errors.Is(err, health.ErrToken):
		h.gate.failed(r)
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "%v", err)
		return
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, "%v", err)
		return
	}
	reports, ok := readBody[[]Report](w, r, "reports", pushBytes)
	if !ok {
		return
	}
	if problem := fault(reports, check, addresses); problem != "" {
		refuse(w, http.StatusUnprocessableEntity, "%s", problem)
		return
	}
	for _, report := range reports {
		result := health.Result{OK: *report.OK, Cause: report.Cause}
		if report.Load != nil {
			result.Load, result.Loaded = *report.Load, true
		}
		h.Report(check, report.Endpoint, result)
	}
	w.WriteHeader(http.StatusNoContent)
}

// fault says what is wrong with the first report that cannot be taken.
func fault(reports []Report, check string, addresses map[netip.Addr]bool) string {
	if len(reports) == 0 || len(reports) > pushReports {
		return "reports: must be a list of 1 to 4096"
	}
	for _, r := range reports {
		switch {
		case r.OK == nil:
			return "ok: not given"
		case r.Load != nil && *r.Load < 0:
			return "load: below 0"
		case !addresses[r.Endpoint]:
			return "endpoint " + r.Endpoint.String() + ": not one of check " + check
		}
	}
	return ""
}
