package admin_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/dns/admin"
)

// sent asks for a path with an Accept-Encoding, and gives the answer and its body as it was sent.
func (w *world) sent(t *testing.T, path, coding string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil)
	r.Header.Set("Accept-Encoding", coding)
	got := httptest.NewRecorder()
	admin.New(w.deps).ServeHTTP(got, r)
	return got.Result(), got.Body.String()
}

func TestLongAnswersAreCompressedForThoseWhoTakeIt(t *testing.T) {
	w := newWorld(t)
	const long, short = "/v1/openapi.json", "/v1/version"
	_, plain := w.sent(t, long, "")
	for _, c := range []struct {
		path, coding string
		small        bool
	}{
		{long, "gzip, deflate, br", true}, {long, "identity", false}, {long, "gzip;q=0", false}, {long, "br", false},
		{short, "gzip", false}, {"/v1/nowhere", "gzip", false}, {"/healthz", "gzip", false},
	} {
		response, body := w.sent(t, c.path, c.coding)
		if got := response.Header.Get("Content-Encoding") == "gzip"; got != c.small {
			t.Errorf("%s for %q: Content-Encoding %q", c.path, c.coding, response.Header.Get("Content-Encoding"))
		}
		if strings.HasPrefix(c.path, "/v1/") && c.path != "/v1/nowhere" && response.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary %q: a cache would give it to those who do not take it so", c.path, response.Header.Get("Vary"))
		}
		if !c.small {
			continue
		}
		if 4*len(body) > len(plain) {
			t.Errorf("%s: %d octets of %d", c.path, len(body), len(plain))
		}
		unpack, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(unpack)
		if diff := cmp.Diff(plain, string(text)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.path, err, diff)
		}
	}
}

// The code of an answer and a body that is long come together, and one that has no body at all is sent, too.
func TestCompressionKeepsTheCode(t *testing.T) {
	w := newWorld(t)
	response, body := w.sent(t, "/v1/services/"+strings.Repeat("x", 3000), "gzip")
	if response.StatusCode != http.StatusNotFound || response.Header.Get("Content-Encoding") != "gzip" || len(body) > 1000 {
		t.Errorf("%d, %s, %d octets", response.StatusCode, fmt.Sprint(response.Header), len(body))
	}
}
