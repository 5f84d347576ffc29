package health

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Prober asks an address what a check wants to know. It answers within the check's timeout, and
// soon after ctx has ended; what it answers then is thrown away.
type Prober func(ctx context.Context, address netip.Addr, c Check) Result

// Outside is the world that probes ask, and what probes of all endpoints share of it. Its methods are
// safe for concurrent use.
type Outside struct {
	roots *x509.CertPool // that certificates are verified against; nil: the system's
	trust trustFiles

	commands chan struct{} // one for each that runs
	mail     mail

	readers sync.Pool // of *bufio.Reader

	mu       sync.Mutex
	stuck    map[errand]bool // what outlived its probe
	requests map[inquiry]written
}

// NewOutside gives the real world.
func NewOutside() *Outside {
	return &Outside{commands: make(chan struct{}, commandsMax), stuck: map[errand]bool{}, requests: map[inquiry]written{}}
}

// Probe is a [Prober]. Every probe asks anew, on a connection of its own; the check's timeout bounds all
// of it, from connecting to the last byte read.
func (o *Outside) Probe(ctx context.Context, address netip.Addr, c Check) Result {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	start := time.Now()
	err := error(fault("no probe of this kind"))
	if c.Kind != nil {
		err = c.Kind.ask(ctx, o, address)
	}
	r := Result{OK: err == nil, Took: time.Since(start)}
	if err != nil {
		r.Cause = cause(during(ctx, err), c)
	}
	return c.Timely(r)
}

// line is a connection on which all waiting ends with the probe.
type line struct {
	net.Conn
	stop func() bool
}

// dial opens a connection for as long as ctx lasts.
func dial(ctx context.Context, network string, address netip.Addr, port uint16) (line, error) {
	// The keep-alive of a connection that lives for one request is of no use.
	dialer := net.Dialer{KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, network, netip.AddrPortFrom(address, port).String())
	if err != nil {
		return line{}, err
	}
	return bound(ctx, conn), nil
}

// bound ends all waiting on the connection with ctx: by a deadline in the past.
func bound(ctx context.Context, conn net.Conn) line {
	return line{conn, context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })}
}

// Close closes the connection.
func (l line) Close() error {
	l.stop()
	return l.Conn.Close()
}

// during gives the error its reason when it is only that ctx has ended. What was found out by then stays.
func during(ctx context.Context, err error) error {
	var known fault
	if err != nil && ctx.Err() != nil && !errors.As(err, &known) {
		return ctx.Err()
	}
	return err
}
