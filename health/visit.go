package health

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// visit is one probe in the making.
type visit struct {
	*Outside
	at     netip.Addr
	wanted context.Context // ends when nobody wants the probe any more
	until  time.Time       // when the probe is over
}

// over tells why the visit has ended; nil: it has not.
func (v *visit) over() error {
	switch err := v.wanted.Err(); {
	case err != nil:
		return err
	case !time.Now().Before(v.until):
		return context.DeadlineExceeded
	}
	return nil
}

// during gives the error its reason when it is only that the visit has ended. What was found out by then stays.
func (v *visit) during(err error) error {
	var known fault
	if over := v.over(); over != nil && !errors.As(err, &known) && !hinders(err) {
		return over
	}
	return err
}

// timed is a context that ends with the visit: for what does not wait on a connection. Connections have deadlines of
// their own, which cost much less.
func (v *visit) timed() (context.Context, context.CancelFunc) {
	return context.WithDeadline(v.wanted, v.until)
}

// line is a connection on which all waiting ends with a visit.
type line struct {
	net.Conn
	stop func() bool
}

// dial begins a TCP connection.
func (v *visit) dial(port uint16) (line, error) {
	conn, err := connect(netip.AddrPortFrom(v.at, port))
	if err != nil {
		return line{}, err
	}
	return v.bound(conn), nil
}

// bound ends all waiting on the connection with the visit.
func (v *visit) bound(conn net.Conn) line {
	conn.SetDeadline(v.until)
	return line{conn, context.AfterFunc(v.wanted, func() { conn.SetDeadline(time.Unix(1, 0)) })}
}

// Close closes the connection.
func (l line) Close() error {
	l.stop()
	return l.Conn.Close()
}
