package admin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"gslb/dns/admin"
)

func TestForeignHostNamesAreRefused(t *testing.T) {
	w := newWorld(t)
	for host, want := range map[string]int{
		"127.0.0.1:8053":    200,
		"127.0.0.1":         200,
		"[::1]:8053":        200,
		"[::1]":             200,
		"localhost":         200,
		"LocalHost:8053":    200,
		"198.51.100.7:8053": 200, // by a port that was forwarded
		"evil.test":         403,
		"evil.test:8053":    403,
		"localhost.evil":    403,
		"127.0.0.1.evil":    403,
		"":                  403,
	} {
		request := httptest.NewRequest(http.MethodGet, "/v1/version", nil)
		request.Host = host
		if code, body := w.ask(request); code != want {
			t.Errorf("host %q: got %d, want %d: %s", host, code, want, body)
		}
	}
}

func TestPostsOfOtherSitesAreRefused(t *testing.T) {
	w := newWorld(t)
	reloads := 0
	w.reload = func() (admin.Reload, error) { reloads++; return admin.Reload{Outcome: admin.Unchanged}, nil }
	for _, c := range []struct {
		key, value string
		want       int
	}{
		{"", "", 200},
		{"Sec-Fetch-Site", "same-origin", 200},
		{"Sec-Fetch-Site", "cross-site", 403},
		{"Sec-Fetch-Site", "same-site", 403},
		{"Origin", "http://127.0.0.1:8053", 200},
		{"Origin", "http://evil.test", 403},
		{"Origin", "http://127.0.0.1:80", 403},
	} {
		request := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8053/v1/reload", nil)
		if c.key != "" {
			request.Header.Set(c.key, c.value)
		}
		if code, _ := w.ask(request); code != c.want {
			t.Errorf("%s %s: got %d, want %d", c.key, c.value, code, c.want)
		}
	}
	if reloads != 3 {
		t.Errorf("%d reloads, want 3", reloads)
	}
	if code, _ := w.get("/v1/reload"); code != http.StatusMethodNotAllowed || reloads != 3 {
		t.Errorf("a GET of reload gives %d", code)
	}
}
