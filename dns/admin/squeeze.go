package admin

import (
	"compress/gzip"
	"net/http"
	"sync"

	"gslb/dns/admin/page"
)

// squeezeLeast is how long a body must be to be compressed: a shorter one fits a packet as it is.
const squeezeLeast = 1400

// squeezers are made once for many answers: each is some 800 KB.
type squeezers struct{ pool sync.Pool } // of *gzip.Writer

// squeezed compresses what is answered as JSON, for those who take it so. Streams of events are no such answers: each
// event is to be there when it happens. Nor does compression tell a secret by its length (as in BREACH): there is none in any
// body, and no page of another site can have a browser ask here.
func (s *squeezers) squeezed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !page.TakesGzip(r) {
			next(w, r)
			return
		}
		body := &squeezer{ResponseWriter: w, from: s, code: http.StatusOK}
		defer body.close()
		next(body, r)
	}
}

// squeezer compresses a body whose first part is long enough.
type squeezer struct {
	http.ResponseWriter
	from  *squeezers
	code  int
	begun bool
	gzip  *gzip.Writer // nil: the body is sent as it is
}

// WriteHeader waits for the body: only then it is known how it is sent.
func (s *squeezer) WriteHeader(code int) { s.code = code }

func (s *squeezer) Write(body []byte) (int, error) {
	if !s.begun {
		s.begin(len(body) >= squeezeLeast)
	}
	if s.gzip != nil {
		return s.gzip.Write(body)
	}
	return s.ResponseWriter.Write(body)
}

func (s *squeezer) begin(long bool) {
	s.begun = true
	if long {
		s.Header().Set("Content-Encoding", "gzip")
		s.gzip, _ = s.from.pool.Get().(*gzip.Writer)
		if s.gzip == nil {
			s.gzip, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // an error is of a level that is none
		}
		s.gzip.Reset(s.ResponseWriter)
	}
	s.ResponseWriter.WriteHeader(s.code)
}

func (s *squeezer) close() {
	if !s.begun {
		s.begin(false)
	}
	if s.gzip != nil {
		_ = s.gzip.Close() // a client that has gone away misses nothing
		s.from.pool.Put(s.gzip)
	}
}

// Unwrap lets [http.ResponseController] reach the connection.
func (s *squeezer) Unwrap() http.ResponseWriter { return s.ResponseWriter }
