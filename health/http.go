package health

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

const (
	headMax   = 64 << 10 // bytes of status line and header that are read
	userAgent = "gslb-check"
)

// HTTP asks for a page and judges its status, and its text where the check has one. The word of its
// kind is http, or https with TLS.
type HTTP struct {
	TLS       bool
	Trust     Trust // with TLS, and when a redirect leads there
	Port      uint16
	Method    string    // empty: GET
	Path      string    // path and query; empty: /
	Host      string    // Host header and TLS server name; empty: the address
	Body      Text      // of the body; where none is wanted, the body is not read
	Status    StatusSet // the codes that are a success; the zero value: none is
	Header    List      // fields that are added to the request, as "Name: value"
	Redirects int       // that are followed, to the same address and host; 0: their status is judged
}

// String is the word of the config.
func (h HTTP) String() string {
	if h.TLS {
		return "https"
	}
	return "http"
}

func (h HTTP) tell(add func(field, value string)) {
	add("port", number(h.Port))
	add("method", h.Method)
	add("path", h.Path)
	add("host", h.Host)
	add("body", h.Body.Plain)
	add("status", h.Status.String())
	add("body_regex", h.Body.Regex)
	for _, field := range h.Header.Texts() {
		add("header", field)
	}
	add("redirects", number(h.Redirects))
	h.Trust.tell(add)
}

// ask gets the page, and follows as many redirects as the check allows. All of them are asked of the
// probed address: it is this endpoint that is judged, and not where it sends its visitors.
func (h HTTP) ask(ctx context.Context, o *Outside, at netip.Addr) error {
	for left := h.Redirects; ; left-- {
		location, err := h.page(ctx, o, at)
		if err != nil || location == "" {
			return err
		}
		if left == 0 {
			return fault("too many redirects")
		}
		if err := h.redirect(location, at); err != nil {
			return err
		}
	}
}

// page asks for one page, and judges it unless it is a redirect to be followed.
func (h HTTP) page(ctx context.Context, o *Outside, at netip.Addr) (location string, err error) {
	conn, err := dial(ctx, "tcp", at, h.Port)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if !h.TLS {
		return h.exchange(conn, o, at)
	}
	// Only HTTP/1.1 is offered: it is what every server speaks, and what the bounds are made for.
	secure, err := o.handshake(conn, h.Trust, serverName(at, h.Host), "http/1.1")
	if err != nil {
		return "", err
	}
	defer secure.Close()
	return h.exchange(secure, o, at)
}

// exchange sends one HTTP/1.1 request over the connection and judges the answer, or gives where it
// redirects to.
func (h HTTP) exchange(conn io.ReadWriter, o *Outside, at netip.Addr) (string, error) {
	request, err := o.request(h, at)
	if err != nil {
		return "", err
	}
	if _, err := conn.Write(request.text); err != nil {
		return "", err
	}
	source := &remembering{Reader: conn}
	head := &io.LimitedReader{R: source, N: headMax}
	reader := o.reader(head)
	defer o.readers.Put(reader)
	response, err := readHead(reader, request.Request)
	if err != nil && source.err != nil {
		return "", source.err
	}
	if err != nil {
		return "", headFault(err, head.N <= 0)
	}
	if location := response.Header.Get("Location"); h.Redirects > 0 && location != "" && redirects(response.StatusCode) {
		return location, nil
	}
	if !h.Status.Has(response.StatusCode) {
		return "", fault("status " + strconv.Itoa(response.StatusCode))
	}
	if !h.Body.Wants() {
		return "", nil
	}
	// The body has a bound of its own. It is left, not closed: closing would read the rest of it.
	head.N = math.MaxInt64
	return "", bodyFault(h.Body.search(response.Body, "body", true))
}

// remembering is a reader that remembers what ended it, unless that was the end of the answer. A line that is
// cut short reads as a malformed one.
type remembering struct {
	io.Reader
	err error
}

// Read reads.
func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != io.EOF {
		r.err = err
	}
	return n, err
}

// redirects tells whether an answer of this code sends to its Location (RFC 9110, section 15.4).
func redirects(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect makes the check one of the page that the location leads to. It must be of the same host: the
// address that is probed need not know another. And it must not give away in clear text what was
// asked inside TLS.
func (h *HTTP) redirect(location string, at netip.Addr) error {
	base := url.URL{Scheme: h.String(), Host: h.authority(at), Path: "/"}
	if page, err := url.ParseRequestURI(h.Path); err == nil {
		base.Path, base.RawPath = page.Path, page.RawPath
	}
	to, err := base.Parse(location)
	if err != nil {
		return fault("bad response: malformed redirect")
	}
	port, err := strconv.ParseUint(to.Port(), 10, 16)
	switch {
	case to.Scheme != "http" && to.Scheme != "https":
		return fault("redirect to another protocol")
	case to.Port() != "" && (err != nil || port == 0):
		return fault("bad response: malformed redirect")
	case h.TLS && to.Scheme == "http":
		return fault("redirect out of TLS")
	case !strings.EqualFold(strings.TrimSuffix(to.Hostname(), "."), strings.TrimSuffix(base.Hostname(), ".")):
		return fault("redirect to another host")
	}
	h.TLS, h.Port, h.Path = to.Scheme == "https", uint16(port), to.RequestURI()
	if to.Port() == "" {
		h.Port = map[bool]uint16{false: 80, true: 443}[h.TLS]
	}
	if h.Host != "" {
		h.Host = to.Host
	}
	if h.Method == http.MethodPost {
		h.Method = http.MethodGet
	}
	return nil
}

// request is the request that the check asks for.
func (h HTTP) request(at netip.Addr) (*http.Request, error) {
	request, err := http.NewRequest(h.Method, "/", nil)
	if err != nil {
		return nil, fault("the method of the check is not one")
	}
	if h.Path != "" {
		if request.URL, err = url.ParseRequestURI(h.Path); err != nil {
			return nil, fault("the path of the check is not one")
		}
	}
	request.Host = h.authority(at)
	request.Close = true
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", "*/*")
	for _, field := range h.Header.Texts() {
		name, value, _ := strings.Cut(field, ":")
		request.Header.Set(name, strings.TrimSpace(value))
	}
	return request, nil
}

// authority is the Host header: the check's, or the address with the port where the scheme does not
// imply it (RFC 9110, section 7.2).
func (h HTTP) authority(at netip.Addr) string {
	address := at.WithZone("")
	switch implied := h.Port == 80 && !h.TLS || h.Port == 443 && h.TLS; {
	case h.Host != "":
		return h.Host
	case !implied:
		return netip.AddrPortFrom(address, h.Port).String()
	case address.Is6():
		return "[" + address.String() + "]"
	}
	return address.String()
}

// errNotHTTP is what readHead says of bytes that are no answer of HTTP/1.
var errNotHTTP = errors.New("not HTTP")

// readHead reads up to the end of the header of the final answer; interim ones (RFC 9110, section
// 15.2) are passed over.
func readHead(r *bufio.Reader, request *http.Request) (*http.Response, error) {
	const start = "HTTP/1."
	for {
		first, err := r.Peek(len(start))
		if len(first) > 0 && !strings.HasPrefix(start, string(first)) {
			return nil, errNotHTTP
		}
		if err != nil {
			return nil, err
		}
		response, err := http.ReadResponse(r, request)
		if err != nil {
			return nil, err
		}
		interim := response.StatusCode >= 100 && response.StatusCode < 200
		if !interim || response.StatusCode == http.StatusSwitchingProtocols {
			return response, nil
		}
	}
}

// headFault gives an error of readHead its cause. What the endpoint sent is not quoted: it differs
// from probe to probe, and it may be anything.
func headFault(err error, full bool) error {
	var network net.Error
	switch {
	case full:
		return fault("bad response: header over 64 KB")
	case errors.Is(err, errNotHTTP):
		return fault("bad response: not HTTP")
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return fault("bad response: malformed header")
}

// bodyFault gives an error in the middle of a body its cause.
func bodyFault(err error) error {
	var (
		network net.Error
		known   fault
	)
	if err == nil || errors.As(err, &known) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fault("bad response: malformed body")
}
