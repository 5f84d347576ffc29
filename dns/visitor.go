package dns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// acceptRetry is how long no connection is taken after one could not be.
const acceptRetry = 10 * time.Millisecond

// hall is a listener whose connections are bounded, and known by their clients.
type hall struct {
	net.Listener
	ctx  context.Context // ends when the listener is about to be closed
	open *crowd
}

// Accept gives the next connection, which is a [visitor]. An error is the listener's end.
func (h *hall) Accept() (net.Conn, error) {
	for {
		conn, err := h.Listener.Accept()
		if err == nil {
			v := &visitor{Conn: conn, hall: h, source: conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()}
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
	hall   *hall
	guest  *guest
	source netip.Addr
	leave  sync.Once
}

// Close ends the connection. It may be called again.
func (v *visitor) Close() error {
	v.leave.Do(func() { v.hall.open.leave(v.guest) })
	return v.Conn.Close()
}

// hangUp closes the connection at once. What is inside TLS is not told so: a client that reads nothing would keep
// us waiting for that.
func (v *visitor) hangUp() { _ = v.Conn.Close() }
