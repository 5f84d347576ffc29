package health

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
)

// GRPC asks the health service of a gRPC server (grpc.health.v1) for the state of a service.
type GRPC struct {
	Port    uint16
	Service string // empty: the server as a whole
	Host    string // :authority and TLS server name; empty: the address
	TLS     bool
	Trust   Trust // with TLS
}

// String is the word of the config.
func (GRPC) String() string { return "grpc" }

func (g GRPC) tell(add func(field, value string)) {
	add("port", number(g.Port))
	add("service", g.Service)
	add("host", g.Host)
	add("tls", truth(g.TLS))
	g.Trust.tell(add)
}

// ask makes the one call by hand: it is a POST over HTTP/2 with a message of one field each way. A client of
// the whole protocol would keep connections, look up names and try again, none of which a
// probe may do.
func (g GRPC) ask(v *visit) error {
	conn, err := v.dial(g.Port)
	if err != nil {
		return err
	}
	defer conn.Close()
	if !g.TLS {
		return g.call(v, conn)
	}
	secure, err := v.handshake(conn, g.Trust, serverName(v.at, g.Host), "h2")
	if err != nil {
		return err
	}
	if secure.ConnectionState().NegotiatedProtocol != "h2" {
		return fault("tls: no application protocol")
	}
	return g.call(v, secure)
}

// call calls Check over the connection.
func (g GRPC) call(v *visit, conn net.Conn) error {
	scheme := "http"
	if g.TLS {
		scheme = "https"
	}
	host := cmp.Or(g.Host, HTTP{TLS: g.TLS, Port: g.Port}.authority(v.at))
	body := bytes.NewReader(checkRequest(g.Service))
	request, err := http.NewRequestWithContext(v.wanted, http.MethodPost, scheme+"://"+host+"/grpc.health.v1.Health/Check", body)
	if err != nil {
		return fault("the host of the check is not one")
	}
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {userAgent}}
	line := &candid{Conn: conn}
	transport := over(line)
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return line.fault(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fault("status " + strconv.Itoa(response.StatusCode))
	}
	message, err := io.ReadAll(io.LimitReader(response.Body, messageMax+1))
	switch {
	case err != nil:
		return line.fault(err)
	case len(message) > messageMax:
		return fault("bad response: message over 4 KB")
	}
	// A call that fails at once has its status in the header.
	status := cmp.Or(response.Trailer.Get("Grpc-Status"), response.Header.Get("Grpc-Status"))
	return judgeCall(status, message)
}

// messageMax is how many bytes of an answer are read; a good one has some ten.
const messageMax = 4 << 10

// over is a transport of HTTP/2 that knows one connection, and never another.
func over(conn net.Conn) *http.Transport {
	connections := make(chan net.Conn, 1)
	connections <- conn
	only := func(context.Context, string, string) (net.Conn, error) {
		select {
		case c := <-connections:
			return c, nil
		default:
			return nil, fault("connection closed")
		}
	}
	t := &http.Transport{
		DialContext: only, DialTLSContext: only, Protocols: new(http.Protocols),
		DisableCompression: true, MaxResponseHeaderBytes: headMax,
		HTTP2: &http.HTTP2Config{MaxReadFrameSize: 16 << 10, MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 64 << 10},
	}
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	return t
}

// candid is a connection that first says what the endpoint said, and then that it listens no more. A server that does
// not speak HTTP/2 says so and closes while frames are still on their way to it; whether the transport meets
// with the words or with the reset first would be a matter of luck.
type candid struct {
	net.Conn

	mu       sync.Mutex
	unheeded error // of the first write that failed
	heard    bool  // the endpoint said something
	ended    error // of the reads
}

// Write writes. That it fails is told by the reads.
func (c *candid) Write(p []byte) (int, error) {
	if _, err := c.Conn.Write(p); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unheeded = cmp.Or(c.unheeded, err)
	}
	return len(p), nil
}

// Read reads.
func (c *candid) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == io.EOF {
		err = cmp.Or(c.unheeded, err)
	}
	c.heard = c.heard || n > 0
	c.ended = cmp.Or(c.ended, err)
	return n, err
}

// fault gives an error of the exchange its cause; what the network did is left to cause.
func (c *candid) fault(err error) error {
	var (
		known   fault
		errno   syscall.Errno
		network net.Error
	)
	if errors.As(err, &known) || errors.As(err, &errno) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.heard && c.ended != nil {
		return c.ended // the transport may only say that the connection is of no use
	}
	return fault("bad response: not HTTP/2")
}

// checkRequest is a HealthCheckRequest, framed: a byte for no compression, the length, and the field 1,
// which is the service, unless it is empty.
func checkRequest(service string) []byte {
	var message []byte
	if service != "" {
		message = append(binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(service))), service...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// servingStatus is the words for the states of a service.
var servingStatus = [...]string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}

// callStatus is the words for the outcomes of a call.
var callStatus = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// judgeCall says whether the outcome of the call and the HealthCheckResponse in it are good news.
func judgeCall(status string, framed []byte) error {
	code, err := strconv.ParseUint(status, 10, 8)
	switch {
	case err != nil || code >= uint64(len(callStatus)):
		return fault("bad response: not gRPC")
	case code != 0:
		return fault("grpc " + callStatus[code])
	case len(framed) < 5 || framed[0] != 0 || int(binary.BigEndian.Uint32(framed[1:])) != len(framed)-5:
		return fault("bad response: malformed message")
	}
	serving, ok := enumField(framed[5:])
	switch {
	case !ok || serving >= uint64(len(servingStatus)):
		return fault("bad response: malformed message")
	case serving != 1:
		return fault("service " + servingStatus[serving])
	}
	return nil
}

// enumField gives the field 1 of a message that has no other; 0 without it.
func enumField(message []byte) (value uint64, ok bool) {
	for len(message) > 0 {
		if message[0] != 1<<3 {
			return 0, false
		}
		var n int
		if value, n = binary.Uvarint(message[1:]); n <= 0 {
			return 0, false
		}
		message = message[1+n:]
	}
	return value, true
}
