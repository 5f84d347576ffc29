// Package page answers what the operator's browser is shown: the web page, as files that were built before.
//
//	mux.Handle("GET /{$}", page.Handler())
//	mux.Handle("GET /page/", page.Handler())
//
// It knows nothing of the server: the page asks for everything it shows under /v1, as any other program does. Its source
// is in source/, and what the script build makes of that in built/, which is committed, so that nobody needs more than a
// Go compiler; a test tells when the two do not belong together.
//
// The files are open to everybody who may come to the door. There is no data in them.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed built
var built embed.FS

// policy is the page's Content-Security-Policy: it may load and ask only this server, nobody may frame it, and
// nothing that it is told, such as what an endpoint answered to a check, can become markup or code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// file is one file of the page, ready to be sent.
type file struct {
	kind  string // its media type
	etag  string // a hash of its content
	plain []byte
	small func() []byte // the same, compressed with gzip by who asks for it first
}

// Handler makes the handler of the page: / is its first file, and /page/ has the others.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r)
	})
}

// load reads the built files, by the path of the URL that asks for them.
func load() map[string]file {
	files := map[string]file{}
	entries, err := built.ReadDir("built")
	if err != nil {
		panic("the embedded page cannot be read: " + err.Error())
	}
	for _, entry := range entries {
		content, err := built.ReadFile("built/" + entry.Name())
		if err != nil {
			panic("the embedded page cannot be read: " + err.Error())
		}
		at := "/page/" + entry.Name()
		if entry.Name() == "index.html" {
			at = "/"
		}
		files[at] = newFile(entry.Name(), content)
	}
	return files
}

func newFile(name string, content []byte) file {
	sum := sha256.Sum256(content)
	f := file{kind: kindOf(name), etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, plain: content}
	f.small = sync.OnceValue(func() []byte {
		var small bytes.Buffer
		w := gzip.NewWriter(&small)
		_, _ = w.Write(content) // to memory
		_ = w.Close()
		return small.Bytes()
	})
	return f
}

// kindOf does not ask the machine's table of media types for those that a browser insists on.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// serve sends the file, unless the browser has it. A browser asks each time whether that is still so: the names of the
// files say nothing of their content.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	content, etag := f.plain, f.etag
	if TakesGzip(r) {
		content, etag = f.small(), strings.TrimSuffix(f.etag, `"`)+`-gz"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", etag)
	h.Set("Content-Type", f.kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content)) // it knows If-None-Match, HEAD and ranges
}

// TakesGzip tells whether who asks takes an answer that is compressed with gzip: it reads Accept-Encoding (RFC 9110,
// section 12.5.3) as far as what browsers and tools send.
func TakesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
