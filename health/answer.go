package health

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"math"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
)

// answer reads an answer of HTTP/1 (RFC 9112): of its header what a probe goes by, and then its body. It is made
// for probes, which read very many answers and next to nothing of each; the package of the language reads them all.
type answer struct {
	source  io.Reader
	failure error // what ended the reading of the source, unless it was the end of the answer
	left    int64 // bytes of the source that may still be read
	buffer  *bufio.Reader

	code     int
	location string
	last     bool      // the connection is not for another answer
	body     io.Reader // with its frame taken off but for a length; nil: there is none
	chunked  bool      // the body, and its last chunk has not been read
	endless  bool      // the body, which ends with the connection
	rest     int64     // bytes of a body that is neither

	load    float64 // that the body tells
	weighed bool    // it does
}

// answer gives a reader of the next answer of a channel, which is to be put back.
func (o *Outside) answer(source io.Reader) *answer {
	a, ok := o.answers.Get().(*answer)
	if !ok {
		a = &answer{buffer: bufio.NewReader(nil)}
	}
	*a = answer{source: source, left: headMax, buffer: a.buffer}
	a.buffer.Reset((*bounded)(a))
	return a
}

// bounded is the source of an answer within its bound. It remembers what ended it: a line that is cut short reads as
// a malformed one.
type bounded answer

// Read reads.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	n, err := b.source.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err != io.EOF {
		b.failure = err
	}
	return n, err
}

// errMalformed is what is said of a header that RFC 9112 does not allow; errNotHTTP of bytes that are no answer
// of HTTP/1. What the endpoint sent is not quoted: it differs from probe to probe, and it may be anything.
var (
	errMalformed = fault("bad response: malformed header")
	errNotHTTP   = fault("bad response: not HTTP")
)

// head reads up to the end of the header of the final answer to a request of this method; interim ones (RFC 9110,
// section 15.2) are passed over.
func (a *answer) head(method string) error {
	for {
		f, err := a.fields()
		switch {
		case a.failure != nil:
			return a.failure
		case err != nil && a.left <= 0:
			return fault("bad response: header over 64 KB")
		case err != nil:
			return err
		}
		interim := a.code >= 100 && a.code < 200
		if interim && a.code != http.StatusSwitchingProtocols {
			continue
		}
		a.left = math.MaxInt64 // the body has a bound of its own
		return a.frame(f, method)
	}
}

// fields reads the status line and the fields of a header.
func (a *answer) fields() (framing, error) {
	var f framing
	line, err := a.line(true)
	if err != nil {
		return f, err
	}
	if a.code, f.old, err = statusLine(line); err != nil {
		return f, err
	}
	a.location, a.last = "", f.old
	for first := true; ; first = false {
		line, err := a.line(false)
		switch {
		case err != nil:
			return f, err
		case len(line) == 0:
			return f, nil
		case !first && (line[0] == ' ' || line[0] == '\t'):
			continue // of a folded field, which none is that a probe goes by (RFC 9112, section 5.2)
		}
		name, value, err := field(line)
		if err != nil {
			return f, err
		}
		a.take(&f, name, value)
	}
}

// take takes in a field that a probe goes by.
func (a *answer) take(f *framing, name, value []byte) {
	switch {
	case is(name, "Location"):
		if a.location == "" {
			a.location = string(value)
		}
	case is(name, "Connection"):
		a.last = a.last && !lists(value, "keep-alive") || lists(value, "close")
	case is(name, "Content-Length"):
		f.sized(value)
	case is(name, "Transfer-Encoding"):
		f.coding = string(value)
		f.coded++
	}
}

// line reads a line, without its end. Of a very long one only the beginning is given. The first line is refused
// as soon as it cannot be that of an answer.
func (a *answer) line(first bool) ([]byte, error) {
	const start = "HTTP/1."
	if first {
		got, err := a.buffer.Peek(len(start))
		if len(got) > 0 && !bytes.HasPrefix([]byte(start), got) {
			return nil, errNotHTTP
		}
		if err != nil {
			return nil, err
		}
	}
	line, err := a.buffer.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line = bytes.Clone(line)
		for err == bufio.ErrBufferFull {
			_, err = a.buffer.ReadSlice('\n')
		}
	}
	if err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), err
}

// statusLine reads a status line (RFC 9112, section 4); old is a version before 1.1.
func statusLine(line []byte) (code int, old bool, err error) {
	version, rest, _ := bytes.Cut(line, []byte(" "))
	digits, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	if len(version) != len("HTTP/1.1") || version[7] < '0' || version[7] > '9' || len(digits) != 3 {
		return 0, false, errMalformed
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false, errMalformed
		}
		code = 10*code + int(d-'0')
	}
	return code, version[7] == '0', nil
}

// field reads a field of a header (RFC 9110, section 5).
func field(line []byte) (name, value []byte, err error) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 {
		return nil, nil, errMalformed
	}
	for _, b := range name {
		if !isToken(b) {
			return nil, nil, errMalformed
		}
	}
	for _, b := range value {
		if b < ' ' && b != '\t' || b == 0x7f {
			return nil, nil, errMalformed
		}
	}
	return name, bytes.Trim(value, " \t"), nil
}

// isToken tells whether a name may hold the byte (RFC 9110, section 5.6.2). A space is none, but there are endpoints
// that write one, before the colon at least, and no probe goes by such a field.
func isToken(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~ ", b) >= 0
}

// is tells whether a name is this one; names have no case.
func is(name []byte, want string) bool {
	return len(name) == len(want) && strings.EqualFold(string(name), want)
}

// lists tells whether a list of words holds this one.
func lists(list []byte, word string) bool {
	for one := range bytes.SplitSeq(list, []byte(",")) {
		if is(bytes.Trim(one, " \t"), word) {
			return true
		}
	}
	return false
}

// framing is what a header says of where the body ends.
type framing struct {
	old    bool   // of a version before 1.1, which knows no chunks
	length string // in digits; empty: none was told
	bad    bool   // two lengths, or one that is none
	coding string // of transfer
	coded  int    // how many codings there are
}

// sized takes in a Content-Length. It may be told twice, if it is the same.
func (f *framing) sized(value []byte) {
	f.bad = f.bad || f.length != "" && f.length != string(value) || len(value) == 0
	if f.length == "" {
		f.length = string(value)
	}
}

// frame finds out where the body ends (RFC 9112, section 6.3).
func (a *answer) frame(f framing, method string) error {
	length, err := strconv.ParseUint(cmp.Or(f.length, "0"), 10, 63)
	coded := f.coded > 0 && !f.old
	switch {
	case f.bad || err != nil || coded && (f.coded > 1 || !strings.EqualFold(f.coding, "chunked")):
		return errMalformed
	case method == http.MethodHead || a.code < 200 || a.code == http.StatusNoContent || a.code == http.StatusNotModified:
		a.last = a.last || a.code < 200
		return nil
	case coded:
		a.body, a.chunked = httputil.NewChunkedReader(a.buffer), true
	case f.length != "":
		a.rest = int64(length)
		a.body = a.buffer
	default:
		a.last, a.endless = true, true
		a.body = a.buffer
	}
	return nil
}

// Read reads of the body.
func (a *answer) Read(p []byte) (int, error) {
	switch {
	case a.body == nil, !a.chunked && !a.endless && a.rest == 0:
		return 0, io.EOF
	case a.chunked, a.endless:
		return a.body.Read(p)
	}
	n, err := a.body.Read(p[:min(int64(len(p)), a.rest)])
	a.rest -= int64(n)
	if err == io.EOF && a.rest > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// complete reads what is left of the answer after its judgement, and tells whether another may follow it on the
// channel.
func (a *answer) complete(judgement error) bool {
	if a.last || judgement != nil {
		return false
	}
	if n, err := io.CopyN(io.Discard, a, answerMax); err != io.EOF || n == answerMax {
		return false
	}
	for a.chunked { // fields may follow the last chunk (RFC 9112, section 7.1.2)
		line, err := a.line(false)
		if err != nil {
			return false
		}
		a.chunked = len(line) > 0
	}
	return a.buffer.Buffered() == 0
}
