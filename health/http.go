package health

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
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
	bodyMax   = 64 << 10 // bytes of the body that are searched
	userAgent = "gslb-check"
)

// askHTTP sends one HTTP/1.1 request over the connection and judges the answer. A redirect is an
// answer like any other: its status is judged, and it is not followed. Where the check wants no text,
// the body is not read.
func askHTTP(conn net.Conn, address netip.Addr, c Check) error {
	request, err := newRequest(address, c)
	if err != nil {
		return err
	}
	if err := request.Write(conn); err != nil {
		return err
	}
	head := &io.LimitedReader{R: conn, N: headMax}
	reader := bufio.NewReader(head)
	response, err := readHead(reader, request)
	if err != nil {
		return headFault(err, head.N <= 0)
	}
	if !c.Status.Has(response.StatusCode) {
		return fault("status " + strconv.Itoa(response.StatusCode))
	}
	if c.Body == "" {
		return nil
	}
	// The body has a bound of its own. It is left, not closed: closing would read the rest of it.
	head.N = math.MaxInt64
	return search(response.Body, c.Body)
}

// askHTTPS is askHTTP inside TLS. Only HTTP/1.1 is offered: it is what every server speaks, and what
// the bounds of askHTTP are made for.
func (n network) askHTTPS(conn net.Conn, address netip.Addr, c Check) error {
	secure := tls.Client(conn, &tls.Config{
		RootCAs:    n.roots,
		ServerName: serverName(address, c),
		NextProtos: []string{"http/1.1"},
	})
	if err := secure.Handshake(); err != nil {
		return tlsFault(err)
	}
	defer secure.Close()
	return askHTTP(secure, address, c)
}

// serverName is the name that the certificate has to be for, and that TLS asks for when it is not an
// address.
func serverName(address netip.Addr, c Check) string {
	if c.Host == "" {
		return address.WithZone("").String()
	}
	if name, _, err := net.SplitHostPort(c.Host); err == nil {
		return name
	}
	return c.Host
}

// newRequest is the request that the check asks for. The Host header is the check's, or the address
// with the port where the scheme does not imply it (RFC 9110, section 7.2).
func newRequest(address netip.Addr, c Check) (*http.Request, error) {
	request, err := http.NewRequest(c.Method, "/", nil)
	if err != nil {
		return nil, fault("the method of the check is not one")
	}
	if c.Path != "" {
		if request.URL, err = url.ParseRequestURI(c.Path); err != nil {
			return nil, fault("the path of the check is not one")
		}
	}
	request.Host = c.Host
	if c.Host == "" {
		request.Host = authority(address.WithZone(""), c)
	}
	request.Close = true
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept", "*/*")
	return request, nil
}

func authority(address netip.Addr, c Check) string {
	if c.Kind == HTTP && c.Port == 80 || c.Kind == HTTPS && c.Port == 443 {
		if address.Is6() {
			return "[" + address.String() + "]"
		}
		return address.String()
	}
	return netip.AddrPortFrom(address, c.Port).String()
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

// search reads the body until the text has been seen, the body ends or its bound is reached.
func search(body io.Reader, text string) error {
	seen := make([]byte, 0, 4<<10)
	for len(seen) < bodyMax {
		if len(seen) == cap(seen) {
			seen = append(seen, 0)[:len(seen)]
		}
		n, err := body.Read(seen[len(seen):min(cap(seen), bodyMax)])
		from := max(0, len(seen)-len(text)+1)
		seen = seen[:len(seen)+n]
		if bytes.Contains(seen[from:], []byte(text)) {
			return nil
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return bodyFault(err)
		}
	}
	return fault(fmt.Sprintf("body lacks %s", quoted(text)))
}

// bodyFault gives an error in the middle of a body its cause.
func bodyFault(err error) error {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fault("bad response: malformed body")
}
