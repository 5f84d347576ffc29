package dns

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// Bounded is a listener at which no questions are asked, but whose connections are bounded like those of listeners for
// questions: a new one is always let in, and room is made for it by closing the one that was served the longest ago,
// or, when the source of the new one has too many, the one of that source.
type Bounded struct {
	net.Listener
	open *crowd
}

// NewBounded bounds the connections of a listener, all together and of one source: an IPv4 address or a /64.
func NewBounded(l net.Listener, total, perSource int) *Bounded {
	return &Bounded{l, newCrowd(total, perSource)}
}

// Accept gives the next connection.
func (b *Bounded) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	m := &member{Conn: conn, open: b.open}
	m.guest = b.open.enter(conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(), time.Now(), func() { _ = conn.Close() })
	return m, nil
}

// Served notes that a request of a connection that a bounded listener gave, or of TLS on it, was answered.
func Served(conn net.Conn) {
	if inside, ok := conn.(*tls.Conn); ok {
		conn = inside.NetConn()
	}
	if m, ok := conn.(*member); ok {
		m.guest.heardAt(time.Now())
	}
}

// member is a connection of a bounded listener.
type member struct {
	net.Conn
	open  *crowd
	guest *guest
	leave sync.Once
}

// Close ends the connection. It may be called again.
func (m *member) Close() error {
	m.leave.Do(func() { m.open.leave(m.guest) })
	return m.Conn.Close()
}
