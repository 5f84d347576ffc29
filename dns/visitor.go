package dns

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"gslb/dns/proxy"
	"gslb/dns/steer"
)

// acceptRetry is how long no connection is taken after one could not be.
const acceptRetry = 10 * time.Millisecond

// hall is a listener whose connections are bounded, and known by their clients.
type hall struct {
	net.Listener
	ctx  context.Context // ends when the listener is about to be closed
	open *crowd

	proxy func(netip.Addr) bool // tells whether an address speaks for others
}

// Accept gives the next connection, which is a [visitor]. An error is the listener's end.
func (h *hall) Accept() (net.Conn, error) {
	for {
		conn, err := h.Listener.Accept()
		if err == nil {
			v := &visitor{Conn: conn, hall: h, source: conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()}
			v.announced = h.proxy(v.source.Unmap().WithZone(""))
			v.guest = h.open.enter(v.source, time.Now(), v.hangUp)
			return v, nil
		}
		if h.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		select {
		case <-h.ctx.Done():
		case <-time.After(acceptRetry): // out of descriptors, most likely: some will come free
		}
	}
}

// visitor is a connection that came in.
type visitor struct {
	net.Conn
	hall  *hall
	guest *guest
	leave sync.Once

	// Owned by the goroutine that reads first, and by whom it tells of what it has read.
	source    netip.Addr // of the client
	announced bool       // a header that tells the client is still to be read

	// Owned by the goroutine that reads: what came and was not read yet, which is kept where TLS is inside, and whether
	// no more is to be waited for.
	ahead *bufio.Reader
	hasty bool
}

// errDry is told to TLS when it would have to wait. It takes it for a timeout, after which it can go on.
var errDry net.Error = dry{}

type dry struct{}

func (dry) Error() string   { return "nothing has come yet" }
func (dry) Timeout() bool   { return true }
func (dry) Temporary() bool { return true }

// readAhead has what comes together read together.
func (v *visitor) readAhead() { v.ahead = bufio.NewReaderSize(v.Conn, tcpBuffer) }

// Read reads what the client sent, behind what its proxy says of it. The connection is known to be the client's from then on.
func (v *visitor) Read(b []byte) (int, error) {
	if v.announced {
		h, err := proxy.Read(v.Conn)
		if err != nil {
			v.hangUp() // what follows could be anything
			return 0, err
		}
		v.announced = false
		if h.Client.IsValid() {
			v.source = h.Client.Addr()
			v.hall.open.move(v.guest, v.source)
		}
	}
	switch {
	case v.ahead == nil:
		return v.Conn.Read(b)
	case v.hasty && v.ahead.Buffered() == 0:
		return 0, errDry
	}
	return v.ahead.Read(b)
}

// Close ends the connection. It may be called again.
func (v *visitor) Close() error {
	v.leave.Do(func() { v.hall.open.leave(v.guest) })
	return v.Conn.Close()
}

// hangUp closes the connection at once. What is inside TLS is not told so: a client that reads nothing would keep
// us waiting for that.
func (v *visitor) hangUp() { _ = v.Conn.Close() }

// hall bounds the connections of a listener, all together and of one source.
func (s *Server) hall(ctx context.Context, l net.Listener, total, perSource int) *hall {
	return &hall{
		Listener: l, ctx: ctx, open: newCrowd(total, perSource),
		proxy: func(a netip.Addr) bool { return s.snapshot().Policy().Proxy(a) },
	}
}

// unproxied gives a packet and its client without the header that a proxy put before it, or false when that is not as
// it must be. Nobody can be answered then: the packet may be of another client than its sender.
func unproxied(policy *steer.Policy, packet []byte, source netip.Addr) ([]byte, netip.Addr, bool) {
	if !policy.Proxy(source.Unmap().WithZone("")) {
		return packet, source, true
	}
	h, err := proxy.Parse(packet)
	if err != nil {
		return nil, source, false
	}
	if h.Client.IsValid() {
		source = h.Client.Addr()
	}
	return packet[h.Length:], source, true
}
