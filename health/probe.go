package health

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

// Prober asks an address what a check wants to know. It answers within the check's timeout, and
// soon after ctx has ended; what it answers then is thrown away.
type Prober func(ctx context.Context, address netip.Addr, c Check) Result

// Probe is the [Prober] that asks the network. Every probe is a new connection to the address and the
// check's port, and the check's timeout bounds all of it, from connecting to the last byte read.
func Probe(ctx context.Context, address netip.Addr, c Check) Result {
	return network{}.probe(ctx, address, c)
}

// network is where probes go. The zero value is the real one.
type network struct {
	roots *x509.CertPool // that certificates are verified against; nil: the system's
}

func (n network) probe(ctx context.Context, address netip.Addr, c Check) Result {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	start := time.Now()
	err := n.ask(ctx, address, c)
	r := Result{OK: err == nil, Took: time.Since(start)}
	if err != nil {
		r.Cause = cause(err, c)
	}
	return r
}

// ask connects and does what the kind of the check wants; a nil error is a success.
func (n network) ask(ctx context.Context, address netip.Addr, c Check) error {
	// The keep-alive of a connection that lives for one request is of no use.
	dialer := net.Dialer{KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(address, c.Port).String())
	if err != nil {
		return during(ctx, err)
	}
	defer conn.Close()
	// All later waiting is on the connection, so a deadline in the past ends it.
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	switch c.Kind {
	case HTTP:
		err = askHTTP(conn, address, c)
	case HTTPS:
		err = n.askHTTPS(conn, address, c)
	case TCP:
		// That it connected is all there was to ask.
	default:
		err = fault("no probe of this kind")
	}
	return during(ctx, err)
}

// during gives the error its reason when it is only that ctx has ended.
func during(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
