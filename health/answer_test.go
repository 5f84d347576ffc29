package health

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var answerSeeds = []string{
	okHead + "\r\nOK", okHead + "Content-Length: 5\r\n\r\nO", okHead + "Transfer-Encoding: chunked\r\n\r\nzz",
	okHead + "Content-Length: 2\r\n\r\nOKHTTP/1.1 200 OK\r\n", okHead + "Transfer-Encoding: chunked\r\n\r\n1\r\nO\r\n1;x\r\nK\r\n0\r\nA: b\r\n\r\n",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /x\r\nlocation: /y\r\n\r\n", "HTTP/1.1 \xff", "SSH-2.0", "H", "",
	"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nOK", "HTTP/1.1 200\r\nContent-Length: +2\r\n\r\nOK",
	"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: Keep-Alive\r\n\r\nOK", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
	"HTTP/1.1 200 OK\nA: b\n c: d\nContent-Length: 0\n\n", "HTTP/1.1 200 OK\r\n a: b\r\n\r\n", "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nxx", "HTTP/1.1  200 OK\r\nX: y\r\n\r\n",
}

// read gives the reader of an answer that was said.
func read(said io.Reader) *answer { return NewOutside().answer(said) }

// FuzzAnswer: whatever an endpoint says, the cause is one of a few, and none of its words are in it.
func FuzzAnswer(f *testing.F) {
	for _, seed := range answerSeeds {
		f.Add(seed)
	}
	f.Add("HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", headMax/6+1))
	causes := []string{
		"", `body lacks "OK"`, "connection closed", "bad response: not HTTP", "bad response: malformed header",
		"bad response: malformed body", "bad response: header over 64 KB",
	}
	page := HTTP{Port: 80, Body: Text{Plain: "OK"}, Status: mustStatus(f, "200-299")}
	f.Fuzz(func(t *testing.T, said string) {
		a := read(strings.NewReader(said))
		_, err := page.judge(a)
		a.complete(err)
		if err == nil {
			return
		}
		got := cause(err, Check{})
		if code, ok := strings.CutPrefix(got, "status "); ok && len(code) <= 3 {
			return
		}
		if !slices.Contains(causes, got) {
			t.Errorf("%q has the cause %q", said, got)
		}
	})
}

// FuzzAnswerIsThatOfTheLibrary holds the reader against that of the language: what both take for an answer is the
// same answer.
func FuzzAnswerIsThatOfTheLibrary(f *testing.F) {
	for _, seed := range answerSeeds {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, said string, head bool) {
		method := map[bool]string{true: "HEAD", false: "GET"}[head]
		a := read(iotest.HalfReader(strings.NewReader(said)))
		err := a.head(method)
		want, wantErr := library(said, method)
		if err == nil && wantErr != nil && !folded(said) {
			t.Fatalf("%q is taken for an answer: %v", said, wantErr)
		}
		if err != nil && wantErr == nil {
			t.Fatalf("%q is no answer: %v", said, err)
		}
		if err != nil || wantErr != nil || folded(said) {
			return
		}
		if a.code != want.StatusCode || a.location != strings.TrimRight(want.Header.Get("Location"), " \t") {
			t.Errorf("%q: code %d, location %q, want %d, %q", said, a.code, a.location, want.StatusCode, want.Header.Get("Location"))
		}
		if !want.Close && a.last && a.code >= 200 {
			t.Errorf("%q: last %v, want %v", said, a.last, want.Close)
		}
		got, err := io.ReadAll(a)
		body, wantErr := io.ReadAll(want.Body)
		if string(got) != string(body) || (err == nil) != (wantErr == nil) && !errors.Is(wantErr, io.ErrUnexpectedEOF) {
			t.Errorf("%q: body %q, %v, want %q, %v", said, got, err, body, wantErr)
		}
	})
}

// folded tells whether an answer has a field over several lines, of which ours takes the first.
func folded(said string) bool { return strings.Contains(said, "\n ") || strings.Contains(said, "\n\t") }

// library reads the final answer.
func library(said, method string) (*http.Response, error) {
	r := bufio.NewReader(strings.NewReader(said))
	for {
		if got, _ := r.Peek(7); string(got) != "HTTP/1." {
			return nil, errNotHTTP
		}
		response, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil || response.StatusCode >= 200 || response.StatusCode < 100 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}

// After an answer that was read to its end, the channel stands before the next one.
func TestAnswerThatAnotherMayFollow(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, said, method string
		text               string // that the body must hold
		want               bool
	}{
		{"a length", ok + "Content-Length: 2\r\n\r\nOK", "GET", "", true},
		{"a length, and the text early in it", ok + "Content-Length: 5000\r\n\r\nOK" + strings.Repeat("x", 4998), "GET", "OK", true},
		{"a length that is not reached", ok + "Content-Length: 3\r\n\r\nOK", "GET", "", false},
		{"more than the length", ok + "Content-Length: 1\r\n\r\nOK", "GET", "", false},
		{"more than is read", ok + "Content-Length: 70000\r\n\r\n" + strings.Repeat("x", 70000), "GET", "", false},
		{"a length of nothing", ok + "Content-Length: 0\r\n\r\n", "GET", "", true},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "GET", "", true},
		{"a head", ok + "Content-Length: 2\r\n\r\n", "HEAD", "", true},
		{"chunks", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n", "GET", "", true},
		{"chunks with trailing fields", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\nA: b\r\nC: d\r\n\r\n", "GET", "OK", true},
		{"chunks that are cut short", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n", "GET", "", false},
		{"no length", ok + "\r\nOK", "GET", "", false},
		{"closed by the endpoint", okHead + "Content-Length: 2\r\n\r\nOK", "GET", "", false},
		{"closed among others", ok + "Connection: x, Close\r\nContent-Length: 2\r\n\r\nOK", "GET", "", false},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nOK", "GET", "", false},
		{"HTTP/1.0 that keeps", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nOK", "GET", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := read(strings.NewReader(c.said))
			page := HTTP{Method: c.method, Status: mustStatus(t, "200-299"), Body: Text{Plain: c.text}}
			_, err := page.judge(a)
			if err != nil {
				t.Fatal(err)
			}
			if got := a.complete(err); got != c.want {
				t.Errorf("another may follow: %v, want %v", got, c.want)
			}
		})
	}
}
