package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/test/rig"
)

// handler is the one that all tests ask.
var handler = sync.OnceValue(Handler)

// get asks the handler, with headers in pairs.
func get(path string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryFileComesWithItsKindAndThePolicy(t *testing.T) {
	kinds := map[string]string{".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain"}
	files, err := os.ReadDir("built")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		at := "/page/" + f.Name()
		if f.Name() == "index.html" {
			at = "/"
		}
		r := get(at)
		if want := kinds[filepath.Ext(f.Name())]; r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), want) {
			t.Errorf("%s: status %d, Content-Type %q, want %s", at, r.StatusCode, r.Header.Get("Content-Type"), want)
		}
		for _, word := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(r.Header.Get("Content-Security-Policy"), word) {
				t.Errorf("%s: the policy lacks %s", at, word)
			}
		}
		if strings.Contains(r.Header.Get("Content-Security-Policy"), "unsafe") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", at, r.Header)
		}
	}
}

func TestFilesThatAreNotThereAreNotFound(t *testing.T) {
	for _, path := range []string{"/page/", "/page/index.html", "/page/nothing.js", "/page/../page.go"} {
		if r := get(path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
}

func TestBrowserThatHasAFileIsNotSentItAgain(t *testing.T) {
	for _, coding := range []string{"gzip, deflate, br", "identity"} {
		first := get("/page/page.js", "Accept-Encoding", coding)
		if again := get("/page/page.js", "Accept-Encoding", coding, "If-None-Match", first.Header.Get("ETag")); again.StatusCode != http.StatusNotModified || body(t, again) != "" {
			t.Errorf("%s: status %d for a file that is known", coding, again.StatusCode)
		}
		if other := get("/page/page.css", "Accept-Encoding", coding, "If-None-Match", first.Header.Get("ETag")); other.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d for another file", coding, other.StatusCode)
		}
	}
}

func TestFilesAreCompressedForWhoTakesThat(t *testing.T) {
	plain := body(t, get("/page/page.js"))
	for coding, want := range map[string]bool{
		"gzip": true, "br, gzip;q=0.5": true, "gzip;q=1.0": true, "": false, "br": false, "gzip;q=0": false, "gzip;q=0.000": false, "x-gzip": false,
	} {
		r := get("/page/page.js", "Accept-Encoding", coding)
		text := body(t, r)
		if (r.Header.Get("Content-Encoding") == "gzip") != want || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: Content-Encoding %q", coding, r.Header.Get("Content-Encoding"))
			continue
		}
		if want {
			z, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		if text != plain {
			t.Errorf("%q: another content", coding)
		}
	}
}

func TestPageNamesNoOtherServer(t *testing.T) {
	index := body(t, get("/"))
	if strings.Contains(index, "//") || strings.Contains(index, "style=") || strings.Contains(index, "onload") {
		t.Errorf("the document names another server, or has code or a style in it:\n%s", index)
	}
	if css := body(t, get("/page/page.css")); strings.Contains(css, "url(") || strings.Contains(css, "@import") {
		t.Error("the style sheet loads something")
	}
}

// The bundle is committed, so it can fall behind its source. This sees it without any tool.
func TestBundleWasMadeFromThisSource(t *testing.T) {
	want, err := os.ReadFile("built/source.sums")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), sums(t)); diff != "" {
		t.Errorf("source/ has changed since the bundle was built: run dns/admin/page/build (-built +source):\n%s", diff)
	}
}

// And this builds it again, where there are the tools and the packages for that.
func TestBundleIsWhatTheScriptBuilds(t *testing.T) {
	if missing := missingTools(); missing != "" {
		rig.Missing(t, "%s", missing)
	}
	fresh := t.TempDir()
	if out, err := exec.Command("./build", fresh).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	files, err := os.ReadDir(fresh)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadDir("built")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(committed) {
		t.Errorf("the script builds %d files, and %d are committed", len(files), len(committed))
	}
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(fresh, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := os.ReadFile(filepath.Join("built", f.Name())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what was committed: run dns/admin/page/build", f.Name())
		}
	}
}
