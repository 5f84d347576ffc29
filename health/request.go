package health

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/netip"
)

// written is a request with its text. It is immutable.
type written struct {
	*http.Request
	text []byte
}

// inquiry is what a request is for: two equal ones have the same text.
type inquiry struct {
	kind      HTTP
	authority string
}

// requestsMax is how many requests are remembered: those of very many endpoints, each asked by its own address.
const requestsMax = 50_000

// request gives the request of a check. It is the same for every probe, and written once.
func (o *Outside) request(h HTTP, at netip.Addr) (written, error) {
	p := inquiry{h, h.authority(at)}
	o.mu.Lock()
	w, ok := o.requests[p]
	o.mu.Unlock()
	if ok {
		return w, nil
	}
	request, err := h.request(at)
	if err != nil {
		return written{}, err
	}
	var text bytes.Buffer
	if err := request.Write(&text); err != nil {
		return written{}, err
	}
	w = written{request, text.Bytes()}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.requests) >= requestsMax {
		clear(o.requests) // most are of checks that are no more
	}
	o.requests[p] = w
	return w, nil
}

// reader gives a buffered reader, which is to be put back.
func (o *Outside) reader(source io.Reader) *bufio.Reader {
	if r, ok := o.readers.Get().(*bufio.Reader); ok {
		r.Reset(source)
		return r
	}
	return bufio.NewReader(source)
}
