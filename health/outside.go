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
	loads    sync.Map // of Load by box: of endpoints that callers have made sure of, so that they are few

	answers sync.Pool // of *answer
	kept    *kept

	mu       sync.Mutex
	stuck    map[errand]bool // what outlived its probe
	requests map[inquiry][]byte
}

// NewOutside gives the real world.
func NewOutside() *Outside {
	return &Outside{commands: make(chan struct{}, commandsMax), stuck: map[errand]bool{}, requests: map[inquiry][]byte{}, kept: newKept()}
}

// Probe is a [Prober]. Every probe asks anew, on a connection of its own unless the check has one kept; the check's
// timeout bounds all of it, from connecting to the last byte read.
func (o *Outside) Probe(ctx context.Context, address netip.Addr, c Check) Result {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	start := time.Now()
	err := error(fault("no probe of this kind"))
	switch {
	case ctx.Err() != nil:
		err = ctx.Err() // with no time there is no probe
	case c.Kind != nil:
		err = c.Kind.ask(ctx, o, address)
	}
	r := Result{OK: err == nil, Took: time.Since(start), Ours: hinders(err)}
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

// dial begins a TCP connection, which lasts as long as ctx does.
func dial(ctx context.Context, address netip.Addr, port uint16) (line, error) {
	conn, err := connect(netip.AddrPortFrom(address, port))
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
	if err != nil && ctx.Err() != nil && !errors.As(err, &known) && !hinders(err) {
		return ctx.Err()
	}
	return err
}
