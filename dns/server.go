package dns

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gslb/dns/steer"
)

// Server is the sockets that requests come in by. The zero value is not usable.
type Server struct {
	responder *Responder
	snapshot  func() *steer.Snapshot
	log       *slog.Logger

	mu          sync.Mutex      // held while sockets are opened and closed, which waits for no client
	doors       map[where]*door // by what was asked for
	certificate atomic.Pointer[Certificate]
}

// Doors are the addresses that a server listens on.
type Doors struct {
	Plain       []netip.AddrPort // by UDP and TCP
	TLS         []netip.AddrPort // by TCP with TLS inside (RFC 7858)
	Certificate *Certificate     // for TLS
}

// where is a door, as it is asked for.
type where struct {
	address netip.AddrPort
	secure  bool
}

func (d Doors) all() []where {
	var all []where
	for _, a := range d.Plain {
		all = append(all, where{a, false})
	}
	for _, a := range d.TLS {
		all = append(all, where{a, true})
	}
	return all
}

// NewServer makes a server without sockets. Every request is answered from the snapshot that is
// the latest when it comes in.
func NewServer(r *Responder, latest func() *steer.Snapshot, log *slog.Logger) *Server {
	return &Server{responder: r, snapshot: latest, log: log, doors: map[where]*door{}}
}

// Listen makes the given doors the ones that are open. Those that are open already are not touched, others are
// closed. On an error nothing has changed, and nobody was answered at a new one.
func (s *Server) Listen(doors Doors) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := doors.all()
	opened := map[where]*door{}
	var errs []error
	for _, w := range wanted {
		if s.doors[w] != nil || opened[w] != nil {
			continue
		}
		d, err := s.open(w)
		if err != nil {
			errs = append(errs, fmt.Errorf("listen on %s: %w", w.address, err))
			continue
		}
		opened[w] = d
	}
	if len(errs) > 0 {
		for _, d := range opened {
			d.close()
		}
		return errors.Join(errs...)
	}
	if doors.Certificate != nil { // else the last is good until its doors are closed
		s.certificate.Store(doors.Certificate)
	}
	for w, d := range s.doors {
		if !slices.Contains(wanted, w) {
			d.close()
			delete(s.doors, w)
			s.log.Info("address no longer served", "address", d.address, "tls", w.secure)
		}
	}
	for w, d := range opened {
		s.doors[w] = d
		d.serve()
		s.log.Info("address served", "address", d.address, "tls", w.secure)
	}
	return nil
}

// Addresses gives the addresses that are served, with the port that was found where 0 was asked for.
func (s *Server) Addresses() []netip.AddrPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []netip.AddrPort
	for _, d := range s.doors {
		all = append(all, d.address)
	}
	slices.SortFunc(all, netip.AddrPort.Compare)
	return all
}

// Close ends every socket, and returns when the last request has been answered.
func (s *Server) Close() error { return s.Listen(Doors{}) }

// door is one address that is served: its sockets and the goroutines that read from them.
type door struct {
	address netip.AddrPort
	cancel  context.CancelFunc
	closers []func() error
	serving []func() // each reads from one socket until that is closed
	readers sync.WaitGroup
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
}

// open makes the sockets of one door, all or none. Nobody reads from them yet.
func (s *Server) open(w where) (*door, error) {
	ctx, cancel := context.WithCancel(context.Background())
	d := &door{cancel: cancel}
	var packets []*net.UDPConn
	var listener net.Listener
	var err error
	if w.secure {
		listener, err = bindTCP(ctx, w.address)
	} else {
		packets, listener, err = bind(ctx, w.address)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	d.address = listener.Addr().(*net.TCPAddr).AddrPort()
	d.address = netip.AddrPortFrom(w.address.Addr(), d.address.Port())
	for _, conn := range packets {
		d.closers = append(d.closers, conn.Close)
		d.serving = append(d.serving, func() { s.serveUDP(ctx, conn, w.address.Addr().IsUnspecified()) })
	}
	if w.secure {
		listener = tls.NewListener(listener, s.secure())
	}
	d.closers = append(d.closers, listener.Close)
	d.serving = append(d.serving, func() { s.serveTCP(ctx, listener, w.secure) })
	return d, nil
}

// secure is how TLS is spoken: by the certificate that is in force when a client comes.
func (s *Server) secure() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"dot"}, // RFC 7858 section 3.1
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c := s.certificate.Load()
			if c == nil {
				return nil, errors.New("no certificate to show")
			}
			return c.current(time.Now()), nil
		},
	}
}
