package health

import (
	"bytes"
	"net/netip"
)

// inquiry is what a request is for: two equal ones have the same text.
type inquiry struct {
	kind      HTTP
	authority string
}

// requestsMax is how many requests are remembered: those of very many endpoints, each asked by its own address.
const requestsMax = 50_000

// request gives the text of the request of a check. It is the same for every probe, and written once.
func (o *Outside) request(h HTTP, at netip.Addr) ([]byte, error) {
	p := inquiry{h, h.authority(at)}
	o.mu.Lock()
	text, ok := o.requests[p]
	o.mu.Unlock()
	if ok {
		return text, nil
	}
	request, err := h.request(at)
	if err != nil {
		return nil, err
	}
	var written bytes.Buffer
	if err := request.Write(&written); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.requests) >= requestsMax {
		clear(o.requests) // most are of checks that are no more
	}
	o.requests[p] = written.Bytes()
	return written.Bytes(), nil
}
