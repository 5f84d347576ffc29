package health

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	Keep      bool      // the connection for the next probe
	Load      string    // an expression whose group is the load, in the first 64 KB of the body; empty: none is told
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
	add("keepalive", truth(h.Keep))
	h.Trust.tell(add)
	add("load", h.Load)
}

// ask gets the page, and follows as many redirects as the check allows. All of them are asked of the
// probed address: it is this endpoint that is judged, and not where it sends its visitors.
func (h HTTP) ask(v *visit) error {
	var e errand // whose connections are kept, or whose load is told
	if h.Keep || h.Load != "" {
		e = errand{h, v.at}
	}
	for left := h.Redirects; ; left-- {
		location, err := h.page(v, e)
		if err != nil || location == "" {
			return err
		}
		if left == 0 {
			return fault("too many redirects")
		}
		if err := h.redirect(location, v.at); err != nil {
			return err
		}
	}
}

// page asks for one page, and judges it unless it is a redirect to be followed. It is asked for on the connection
// that was kept of the errand, where one was. What has become of that meanwhile says nothing of the endpoint: then
// a new one is opened, once.
func (h *HTTP) page(v *visit, e errand) (location string, err error) {
	if h.Keep {
		location, err := h.again(v, e)
		if err != errStale {
			return location, err
		}
	}
	c, err := h.open(v)
	if err != nil {
		return "", err
	}
	return h.exchange(v, c, e)
}

// again asks on the connection that was kept; without one that lives it gives errStale.
func (h *HTTP) again(v *visit, e errand) (location string, err error) {
	c := v.take(e, door{h.TLS, h.Port})
	if c == nil {
		return "", errStale
	}
	return h.exchange(v, c, e)
}

// exchange sends one HTTP/1.1 request over the channel and judges the answer, or gives where it redirects to. Then
// the channel is kept or closed.
func (h *HTTP) exchange(v *visit, c *channel, e errand) (location string, err error) {
	request, err := v.request(*h, v.at)
	if err != nil {
		c.Close()
		return "", err
	}
	a := v.answer(c.stream)
	defer v.answers.Put(a)
	if _, err = c.stream.Write(request); err == nil {
		location, err = h.judge(a)
	}
	if a.weighed {
		v.weigh(e.kind, e.at, a.load)
	}
	if c.reused && a.left == headMax && broken(err) && v.over() == nil {
		err = errStale
	}
	if h.Keep && a.complete(err) && c.stop() {
		v.kept.put(e, c, time.Now())
		return location, err
	}
	c.Close()
	return location, err
}

// errStale says that a connection that was kept had ended before the endpoint said anything.
var errStale = errors.New("stale connection")

// broken tells whether an error is the end of a connection.
func broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// judge reads the answer, of which the body only where it is wanted.
func (h *HTTP) judge(a *answer) (location string, err error) {
	if err := a.head(h.Method); err != nil {
		return "", err
	}
	if h.Redirects > 0 && a.location != "" && redirects(a.code) {
		return a.location, nil
	}
	if !h.Status.Has(a.code) {
		return "", fault("status " + strconv.Itoa(a.code))
	}
	if h.Load != "" {
		return "", h.weigh(a)
	}
	if !h.Body.Wants() {
		return "", nil
	}
	return "", bodyFault(h.Body.search(a, "body", true))
}

// weigh reads the load out of the body, and judges the text. The load alone makes no failure.
func (h *HTTP) weigh(a *answer) error {
	said, err := beginning(a)
	a.load, a.weighed = loadIn(h.Load, said)
	switch {
	case !h.Body.Wants():
		return nil
	case err != nil:
		return bodyFault(err)
	}
	return bodyFault(h.Body.search(bytes.NewReader(said), "body", true))
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
	request.Close = !h.Keep
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

// bodyFault gives an error in the middle of a body its cause.
func bodyFault(err error) error {
	if err == nil {
		return nil
	}
	var (
		network net.Error
		known   fault
	)
	if errors.As(err, &known) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fault("bad response: malformed body")
}
