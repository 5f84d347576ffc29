package admin

import (
	"net/http"
	"strings"
)

// nothing answers what no operation under /v1/ does, in the form of every refusal.
func nothing(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
				allowed = append(allowed, method)
			}
		}
		if allowed == nil {
			refuse(w, http.StatusNotFound, "%s: nothing is there; /v1/openapi.json tells what is", r.URL.Path)
			return
		}
		methods := strings.Join(allowed, ", ")
		w.Header().Set("Allow", methods)
		refuse(w, http.StatusMethodNotAllowed, "%s %s: it can be asked by %s", r.Method, r.URL.Path, methods)
	}
}
