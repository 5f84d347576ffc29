package dns

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"sync"
	"time"

	"gslb/config"
)

// Doors are the addresses that a server listens on.
type Doors struct {
	Plain []netip.AddrPort // by UDP and TCP
	TLS   Secure           // by TCP with TLS inside (RFC 7858)
	HTTPS HTTP             // by HTTP with TLS inside (RFC 8484)
	QUIC  Secure           // by QUIC (RFC 9250)

	// Workers is how many sockets for UDP each address has from when it is opened, each with a goroutine that answers;
	// 0: one for each goroutine that Go may run at a time.
	Workers int
	// Coalesce is how long a worker waits after an answer for more packets to answer together, where they come so
	// fast that at least one does; 0: it does not wait.
	Coalesce time.Duration
}

// Secure is the addresses of a transport that nobody listens in on.
type Secure struct {
	Listen      []netip.AddrPort
	Certificate *Certificate
}

// HTTP is the addresses of questions by HTTP.
type HTTP struct {
	Secure
	Path string // where they are asked
}

// where is a door, as it is asked for. That for UDP is for TCP, too.
type where struct {
	address netip.AddrPort
	over    Transport
}

// all gives the doors one by one.
func (d Doors) all() []where {
	var all []where
	for over, addresses := range [transports][]netip.AddrPort{UDP: d.Plain, TLS: d.TLS.Listen, HTTPS: d.HTTPS.Listen, QUIC: d.QUIC.Listen} {
		for _, a := range addresses {
			all = append(all, where{a, Transport(over)})
		}
	}
	return all
}

// clashes tells whether two doors cannot be open side by side.
func (w where) clashes(other where) bool {
	packets := func(t Transport) bool { return t == UDP || t == QUIC }
	streams := func(t Transport) bool { return t != QUIC }
	return config.Overlap(w.address, other.address) &&
		(packets(w.over) && packets(other.over) || streams(w.over) && streams(other.over))
}

// secrets gives what is shown by transport, nil for nothing.
func (d Doors) secrets() iter.Seq2[Transport, *Certificate] {
	return func(yield func(Transport, *Certificate) bool) {
		_ = yield(TLS, d.TLS.Certificate) && yield(HTTPS, d.HTTPS.Certificate) && yield(QUIC, d.QUIC.Certificate)
	}
}

// ListenError says why an address cannot be listened on.
type ListenError struct {
	Over    Transport // UDP is for TCP, too
	Address netip.AddrPort
	Held    netip.AddrPort // by us, and in the way of it; the zero value: nothing is
	Cause   error
}

func (e *ListenError) Error() string { return fmt.Sprintf("listen on %s: %v", e.Address, e.Cause) }

// Unwrap gives the cause.
func (e *ListenError) Unwrap() error { return e.Cause }

// door is one address that is served: its sockets and the goroutines that read from them.
type door struct {
	address netip.AddrPort
	cancel  context.CancelFunc
	closers []func() error
	last    []func() error // are called when nothing reads any more
	serving []func()       // each reads from one socket until that is closed
	readers sync.WaitGroup
	buffer  int // octets of the smallest receive buffer of its plain UDP sockets; 0: it has none
}

// add takes a socket in, with what reads from it until it is closed.
func (d *door) add(socket io.Closer, read func()) {
	d.closers = append(d.closers, socket.Close)
	d.serving = append(d.serving, read)
}

// serve begins to answer.
func (d *door) serve() {
	for _, read := range d.serving {
		d.readers.Go(read)
	}
}

func (d *door) close() {
	d.cancel()
	for _, c := range d.closers {
		_ = c() // the goroutine that reads there learns of it
	}
	d.readers.Wait()
	for _, c := range d.last {
		_ = c() // again, where it was served
	}
}
