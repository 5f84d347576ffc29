package admin

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ownHost refuses requests that name a host which is no address, not localhost and not in the certificate of the door. A
// web page can make its own name lead to a loopback address, and would then be let in by the browser as the same site.
func ownHost(d Deps, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isOwn(r.Host, d) {
			refuse(w, http.StatusForbidden, "host %q is not this server: ask by its address", r.Host)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isOwn(host string, d Deps) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return strings.EqualFold(name, "localhost") || name == d.Listen.Addr().String() || d.Certified != nil && d.Certified(name)
}

// ownSite refuses what a page of another site has a browser ask for. Only to follow a link to a page is allowed to
// others: then it is the user who looks. No page may be shown within one of another site.
func ownSite(next http.Handler) http.Handler {
	unsafe := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		asks := r.Header.Get("Sec-Fetch-Site")
		followed := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		if !slices.Contains([]string{"", "none", "same-origin"}, asks) && !followed {
			refuse(w, http.StatusForbidden, "asked for by a page of another site")
			return
		}
		unsafe.ServeHTTP(w, r)
	})
}
