package admin_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb/config"
	"gslb/dns/admin"
)

// guardedWorld is a world whose door takes tokens: reader, drainer and operator, each named as it is written.
func guardedWorld(t testing.TB) *world {
	w := newWorld(t)
	for role, name := range []string{"reader", "drainer", "operator"} {
		sum := sha256.Sum256([]byte(name))
		w.tokens = append(w.tokens, config.AdminToken{Name: name, Hash: hex.EncodeToString(sum[:]), Role: config.AdminRole(role)})
	}
	w.reload = func() (admin.Reload, error) { return admin.Reload{Outcome: admin.Unchanged}, nil }
	w.deps.Drain = func(_ context.Context, d config.Drain) (admin.Drained, error) {
		return admin.Drained{Place: d.Target}, nil
	}
	return w
}

// from makes a request of a source that shows a token; "": none.
func from(source, method, path, token string) *http.Request {
	r := httptest.NewRequest(method, "https://192.0.2.53:8053"+path, strings.NewReader(`{"place": "msk"}`))
	r.RemoteAddr = source
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	to := &net.TCPAddr{IP: net.ParseIP("192.0.2.53"), Port: 8053}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, to))
}

func TestTokensAllowWhatTheirRoleDoes(t *testing.T) {
	w := guardedWorld(t)
	door := admin.New(w.deps)
	for _, c := range []struct {
		method, path                      string
		none, wrong, reader, drainer, all int
	}{
		{"GET", "/v1/status", 401, 401, 200, 200, 200},
		{"GET", "/metrics", 401, 401, 200, 200, 200},
		{"GET", "/v1/openapi.json", 401, 401, 200, 200, 200},
		{"POST", "/v1/drains", 401, 401, 403, 201, 201},
		{"POST", "/v1/reload", 401, 401, 403, 403, 200},
		{"GET", "/healthz", 200, 200, 200, 200, 200},
		{"GET", "/readyz", 200, 200, 200, 200, 200},
	} {
		for token, want := range map[string]int{"": c.none, "guess": c.wrong, "reader": c.reader, "drainer": c.drainer, "operator": c.all} {
			out := httptest.NewRecorder()
			door.ServeHTTP(out, from("127.0.0.1:1", c.method, c.path, token))
			if out.Code != want {
				t.Errorf("%s %s by %q: %d, want %d: %s", c.method, c.path, token, out.Code, want, out.Body)
			}
			if out.Code == 401 && out.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s: nothing says how to log in", c.method, c.path)
			}
		}
	}
	for _, secret := range []string{"guess", w.tokens[0].Hash, w.tokens[2].Hash} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, w.log.String())
		}
	}
	if said := w.log.String(); !strings.Contains(said, `msg="admin request beyond its role" token=reader source=127.0.0.1 request="POST /v1/drains"`) ||
		!strings.Contains(said, `msg="admin request" token=drainer source=127.0.0.1 request="POST /v1/drains"`) {
		t.Errorf("the log does not tell who did what:\n%s", said)
	}
}

// What is no bearer token of the list is none.
func TestWhatIsNoToken(t *testing.T) {
	w := guardedWorld(t)
	w.tokens = append(w.tokens, config.AdminToken{Name: "empty", Hash: ""}, config.AdminToken{Name: "odd", Hash: "x"},
		config.AdminToken{Name: "unset", Hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}) // of an empty text
	for _, shown := range []string{"", "Bearer", "Bearer ", "Basic reader", "reader", " reader", "Bearerreader", "Bearer reader ", "Bearer Reader", w.tokens[0].Hash, "Bearer " + w.tokens[0].Hash} {
		r := from("127.0.0.1:1", "GET", "/v1/status", "")
		r.Header.Set("Authorization", shown)
		if code, _ := w.ask(r); code != 401 {
			t.Errorf("%q: %d, want 401", shown, code)
		}
	}
}

// The name of a scheme means the same in capital and in small letters.
func TestSchemesAreWrittenInAnyCase(t *testing.T) {
	w := guardedWorld(t)
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		r := from("127.0.0.1:1", "GET", "/v1/status", "")
		r.Header.Set("Authorization", scheme+" reader")
		if code, said := w.ask(r); code != 200 {
			t.Errorf("%s: %d %s, want 200", scheme, code, said)
		}
	}
}

func TestGuessingIsShutOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := guardedWorld(t)
		door := admin.New(w.deps)
		ask := func(source, token string) int {
			out := httptest.NewRecorder()
			door.ServeHTTP(out, from(source, "GET", "/v1/version", token))
			if out.Code == 429 && out.Header().Get("Retry-After") == "" {
				t.Error("nothing says how long to wait")
			}
			return out.Code
		}
		for n := range 10 {
			if code := ask(fmt.Sprintf("198.51.100.7:%d", n), "guess"); code != 401 {
				t.Fatalf("guess %d: %d, want 401", n, code)
			}
		}
		if code := ask("198.51.100.7:99", "guess"); code != 429 {
			t.Errorf("an eleventh guess: %d, want 429", code)
		}
		if code := ask("198.51.100.7:99", "reader"); code != 429 {
			t.Errorf("a right token after guesses: %d, want 429", code)
		}
		if code := ask("198.51.100.8:1", "reader"); code != 200 {
			t.Errorf("another source: %d, want 200", code)
		}
		if n := strings.Count(w.log.String(), "198.51.100.7"); n != 2 {
			t.Errorf("%d lines of the log, want 2:\n%s", n, w.log.String())
		}
		time.Sleep(time.Minute)
		if code := ask("198.51.100.7:1", "reader"); code != 200 {
			t.Errorf("a minute later: %d, want 200", code)
		}
		// One /64 is one source, and this machine is never shut out.
		for n := range 20 {
			ask(fmt.Sprintf("[2001:db8::%x]:1", n+1), "guess")
			ask("127.0.0.1:1", "guess")
			ask("192.0.2.53:1", "guess")
		}
		for source, want := range map[string]int{"[2001:db8::ffff]:1": 429, "[2001:db8:0:1::1]:1": 200, "127.0.0.1:1": 200, "192.0.2.53:1": 200} {
			if code := ask(source, "reader"); code != want {
				t.Errorf("%s: %d, want %d", source, code, want)
			}
		}
	})
}

func TestPushTokensAreNotGuessedEither(t *testing.T) {
	w := newWorld(t)
	door := admin.New(w.deps)
	code := 0
	for range 11 {
		out := httptest.NewRecorder()
		door.ServeHTTP(out, from("198.51.100.7:1", "POST", "/v1/push/web", "guess"))
		code = out.Code
	}
	if code != 429 {
		t.Errorf("an eleventh guess: %d, want 429", code)
	}
}

func TestHostsOfTheCertificate(t *testing.T) {
	w := guardedWorld(t)
	w.deps.Certified = func(host string) bool { return host == "ns1.ok.test" }
	for host, want := range map[string]int{"ns1.ok.test:8053": 200, "192.0.2.53:8053": 200, "evil.test:8053": 403} {
		r := from("198.51.100.7:1", "GET", "/v1/version", "reader")
		r.Host = host
		if code, _ := w.ask(r); code != want {
			t.Errorf("%s: %d, want %d", host, code, want)
		}
	}
}

func TestPagesOfOtherSitesReadNothing(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		site, mode, dest string
		want             int
	}{
		{"", "", "", 200},
		{"none", "navigate", "document", 200},
		{"same-origin", "cors", "empty", 200},
		{"cross-site", "navigate", "document", 200}, // a link that a user follows
		{"cross-site", "cors", "empty", 403},
		{"cross-site", "no-cors", "script", 403},
		{"cross-site", "navigate", "iframe", 403},
		{"same-site", "no-cors", "image", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8053/v1/version", nil)
		for key, value := range map[string]string{"Sec-Fetch-Site": c.site, "Sec-Fetch-Mode": c.mode, "Sec-Fetch-Dest": c.dest} {
			if value != "" {
				r.Header.Set(key, value)
			}
		}
		if code, _ := w.ask(r); code != c.want {
			t.Errorf("%+v: %d", c, code)
		}
	}
}
