package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ownHost refuses requests that name a host which is no address and not localhost. A web page can make
// its own name lead to a loopback address, and would then be let in by the browser as the same site.
func ownHost(listen netip.AddrPort, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isOwn(r.Host, listen) {
			refuse(w, http.StatusForbidden, "host %q is not this server: ask by its address", r.Host)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isOwn(host string, listen netip.AddrPort) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return strings.EqualFold(name, "localhost") || name == listen.Addr().String()
}

// guarded lets only this machine begin and end drains: there is no log-in that would tell who else it is.
func guarded(role Role, next http.HandlerFunc) http.HandlerFunc {
	if role != RoleDrain {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !from.Addr().Unmap().IsLoopback() {
			refuse(w, http.StatusForbidden, "drains begin and end only from the server's own machine: run gslb drain there")
			return
		}
		next(w, r)
	}
}
