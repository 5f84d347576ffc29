package admin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gslb/config"

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

func TestDrainsBeginOnThisMachineOnly(t *testing.T) {
	w := newWorld(t)
	orders := 0
	w.deps.Drain = func(_ context.Context, d config.Drain) (admin.Drained, error) {
		orders++
		return admin.Drained{Place: d.Target}, nil
	}
	for _, c := range []struct {
		from, kind, site string
		want             int
	}{
		{"127.0.0.1:1", "application/json", "", 201},
		{"[::1]:1", "application/json; charset=utf-8", "same-origin", 201},
		{"192.0.2.7:1", "application/json", "", 403},
		{"127.0.0.1:1", "text/plain", "", 415}, // what a form of another site can send
		{"127.0.0.1:1", "application/json", "cross-site", 403},
	} {
		request := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8053/v1/drains", strings.NewReader(`{"place": "msk"}`))
		request.RemoteAddr = c.from
		request.Header.Set("Content-Type", c.kind)
		if c.site != "" {
			request.Header.Set("Sec-Fetch-Site", c.site)
		}
		if code, body := w.ask(request); code != c.want {
			t.Errorf("%+v: got %d %s", c, code, body)
		}
	}
	if orders != 2 {
		t.Errorf("%d orders were carried out, want 2", orders)
	}
}
