package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"gslb/config"
)

// gate lets in who may ask. Where the configuration has tokens, everything takes one, but what belongs to nobody; where
// it has none, whoever reaches the door may look, and only this machine may begin and end drains.
type gate struct {
	tokens   func() []config.AdminToken // of the configuration in force
	log      *slog.Logger
	failures failures
}

// roles are what the roles of tokens allow.
var roles = map[config.AdminRole][]Role{
	config.AdminRead:    {RoleView},
	config.AdminDrain:   {RoleView, RoleDrain},
	config.AdminOperate: {RoleView, RoleDrain, RoleOperate},
}

// guarded serves what takes a role to those who have it.
func (g *gate) guarded(role Role, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tokens := g.tokens()
		switch {
		case role == RoleNone:
			next(w, r)
		case len(tokens) == 0 && role == RoleDrain && !ownMachine(r):
			refuse(w, http.StatusForbidden, "drains begin and end only from the server's own machine: run gslb drain there")
		case len(tokens) == 0:
			next(w, r)
		default:
			g.pass(w, r, tokens, role, next)
		}
	}
}

// pass serves a request that shows a token with the role.
func (g *gate) pass(w http.ResponseWriter, r *http.Request, tokens []config.AdminToken, role Role, next http.HandlerFunc) {
	if g.shuts(w, r) {
		return
	}
	token, known := shown(r, tokens)
	switch {
	case !known:
		g.failed(r)
		w.Header().Set("WWW-Authenticate", `Bearer realm="gslb"`)
		if r.Header.Get("Authorization") != "" {
			refuse(w, http.StatusUnauthorized, "the token that was shown is none of admin.tokens: it is misspelt, or was taken out")
			return
		}
		refuse(w, http.StatusUnauthorized, "this takes a token of admin.tokens, as Authorization: Bearer TOKEN; for the commands of gslb in GSLB_TOKEN or a file that GSLB_TOKEN_FILE names")
		return
	case !allows(token.Role, role):
		g.log.Warn("admin request beyond its role", "token", token.Name, "source", caller(r), "request", r.Method+" "+r.URL.Path)
		refuse(w, http.StatusForbidden, "token %s does not allow this: its role is not %s", token.Name, role)
		return
	case role != RoleView:
		g.log.Info("admin request", "token", token.Name, "source", caller(r), "request", r.Method+" "+r.URL.Path)
	}
	next(w, r)
}

// shuts refuses a source that has failed too often of late.
func (g *gate) shuts(w http.ResponseWriter, r *http.Request) bool {
	wait := g.failures.wait(r, time.Now())
	if wait == 0 {
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
	refuse(w, http.StatusTooManyRequests, "too many requests without a good token from here: wait %v", wait.Round(time.Second))
	return true
}

// failed notes a request without a good token. The log tells of the first of a source, and when it is shut out.
func (g *gate) failed(r *http.Request) {
	switch g.failures.add(r, time.Now()) {
	case 1:
		g.log.Warn("admin token refused", "source", caller(r), "request", r.Method+" "+r.URL.Path)
	case failuresMax:
		g.log.Warn("admin tokens refused too often: the source has to wait", "source", caller(r), "for", failuresSpan)
	}
}

// shown is the token that a request shows. How long this takes does not depend on what it shows.
func shown(r *http.Request, tokens []config.AdminToken) (token config.AdminToken, known bool) {
	text, isBearer := bearer(r)
	sum := sha256.Sum256([]byte(text))
	for _, t := range tokens {
		want, err := hex.DecodeString(t.Hash)
		if err == nil && subtle.ConstantTimeCompare(sum[:], want) == 1 && isBearer {
			token, known = t, true
		}
	}
	return token, known
}

// bearer is the token of a request that shows one; an empty one is none. The name of the scheme is written in any case
// (RFC 9110 section 11.1).
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

func allows(has config.AdminRole, wanted Role) bool {
	for _, r := range roles[has] {
		if r == wanted {
			return true
		}
	}
	return false
}

// caller is where a request comes from.
func caller(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero address of what has none is one source
	return from.Addr().Unmap().WithZone("")
}

// ownMachine tells whether a request comes from the machine of the server.
func ownMachine(r *http.Request) bool { return caller(r).IsLoopback() }
