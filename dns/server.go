package dns

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
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

	mu        sync.Mutex      // held while sockets are opened and closed, which waits for no client
	doors     map[where]*door // by what was asked for
	inherited inherited

	certificates [transports]atomic.Pointer[Certificate] // that are in force
	httpPath     atomic.Pointer[string]                  // likewise
	coalesce     atomic.Int64                            // likewise: a time.Duration
	seats        seats
}

// NewServer makes a server without sockets. Every request is answered from the snapshot that is
// the latest when it comes in.
func NewServer(r *Responder, latest func() *steer.Snapshot, log *slog.Logger) *Server {
	return &Server{responder: r, snapshot: latest, log: log, doors: map[where]*door{}}
}

// Listen makes the given doors the ones that are open. Those that are open already are not touched, others are
// closed. On an error nothing has changed, and nobody was answered at a new one; it joins a [ListenError] for each
// address that cannot be had.
func (s *Server) Listen(doors Doors) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := doors.all()
	opened, err := s.openAll(wanted, doors.Workers)
	if err != nil {
		return err
	}
	for over, secret := range doors.secrets() {
		if secret != nil { // else the last is good until its doors are closed
			s.certificates[over].Store(secret)
		}
	}
	s.httpPath.Store(&doors.HTTPS.Path)
	s.coalesce.Store(int64(doors.Coalesce))
	s.seats.furnish()
	for w, d := range s.doors {
		if !slices.Contains(wanted, w) {
			d.close()
			delete(s.doors, w)
			s.log.Info("address no longer served", "address", d.address, "transport", w.over.door())
		}
	}
	for _, a := range s.inherited.leftOver() {
		s.log.Warn("a socket was handed over that no listen address asks for", "address", a)
	}
	for w, d := range opened {
		s.doors[w] = d
		d.serve()
		log := s.log.With("address", d.address, "transport", w.over.door())
		if d.buffer > 0 { // the kernel may have given less than was asked for
			log = log.With("receive_buffer", d.buffer)
		}
		log.Info("address served")
	}
	return nil
}

// openAll opens the doors that are not open yet, all or none. The caller holds mu.
func (s *Server) openAll(wanted []where, workers int) (opened map[where]*door, err error) {
	opened = map[where]*door{}
	var errs []error
	for _, w := range wanted {
		if s.doors[w] != nil || opened[w] != nil {
			continue
		}
		d, err := s.open(w, workers)
		if err != nil {
			errs = append(errs, s.refusal(w, err))
			continue
		}
		opened[w] = d
	}
	if len(errs) == 0 {
		return opened, nil
	}
	for _, d := range opened {
		d.close()
	}
	return nil, errors.Join(errs...)
}

// refusal tells why a door cannot be opened. The caller holds mu.
func (s *Server) refusal(w where, cause error) *ListenError {
	e := &ListenError{Over: w.over, Address: w.address, Cause: cause}
	for other, d := range s.doors {
		if w.clashes(other) {
			e.Held = d.address
		}
	}
	return e
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

// Buffers gives the octets of the receive buffers that the kernel gave: for each address with UDP, the smallest of its
// sockets.
func (s *Server) Buffers() map[netip.AddrPort]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[netip.AddrPort]int{}
	for _, d := range s.doors {
		if d.buffer > 0 {
			all[d.address] = d.buffer
		}
	}
	return all
}

// Close ends every socket, and returns when the last request has been answered.
func (s *Server) Close() error { return s.Listen(Doors{}) }

// open makes the sockets of one door, all or none. Nobody reads from them yet.
func (s *Server) open(w where, workers int) (*door, error) {
	ctx, cancel := context.WithCancel(context.Background())
	d := &door{cancel: cancel}
	var err error
	switch w.over {
	case QUIC:
		err = s.openQUIC(ctx, d, w)
	case UDP:
		err = s.openPlain(ctx, d, w, workers)
	default:
		err = s.openStream(ctx, d, w)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	d.address = netip.AddrPortFrom(w.address.Addr(), d.address.Port()) // without what the kernel knows an IPv4 address by
	return d, nil
}

// openPlain opens a door for UDP and TCP.
func (s *Server) openPlain(ctx context.Context, d *door, w where, workers int) error {
	packets, listener, err := s.inherited.plain(ctx, w.address, cmp.Or(workers, runtime.GOMAXPROCS(0)))
	if err != nil {
		return err
	}
	d.buffer = receiveBuffers(packets)
	for _, conn := range packets {
		d.add(conn, func() { s.serveUDP(ctx, conn, w.address.Addr().IsUnspecified()) })
	}
	d.address = listener.Addr().(*net.TCPAddr).AddrPort()
	d.add(listener, func() { s.serveTCP(ctx, listener, nil) })
	return nil
}

// openStream opens a door for a transport inside TLS on TCP.
func (s *Server) openStream(ctx context.Context, d *door, w where) error {
	listener, err := s.inherited.listener(ctx, w.address)
	if err != nil {
		return err
	}
	d.address = listener.Addr().(*net.TCPAddr).AddrPort()
	d.add(listener, func() {
		if w.over == HTTPS {
			s.serveHTTPS(ctx, listener)
			return
		}
		s.serveTCP(ctx, listener, s.secure(TLS))
	})
	return nil
}

// openQUIC opens a door for QUIC, which is on UDP.
func (s *Server) openQUIC(ctx context.Context, d *door, w where) error {
	socket, err := s.inherited.socket(ctx, w.address)
	if err != nil {
		return err
	}
	d.address = socket.LocalAddr().(*net.UDPAddr).AddrPort()
	d.serving = append(d.serving, func() { s.serveQUIC(ctx, socket) })
	d.last = append(d.last, socket.Close) // not before clients are told of the end
	return nil
}

// secure is how TLS is spoken for a transport: by the certificate that is in force when a client comes.
func (s *Server) secure(over Transport) *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c := s.certificates[over].Load()
			if c == nil {
				return nil, errors.New("no certificate to show")
			}
			return c.current(time.Now()), nil
		},
	}
	if over == TLS {
		config.NextProtos = []string{"dot"}       // RFC 7858 section 3.1
		config.DynamicRecordSizingDisabled = true // answers that go out together go out in one record, and by one call
	}
	return config
}

// Certificates gives what is shown to clients inside TLS, by transport.
func (s *Server) Certificates() iter.Seq2[Transport, *Certificate] {
	return func(yield func(Transport, *Certificate) bool) {
		for over := range s.certificates {
			if c := s.certificates[over].Load(); c != nil && !yield(Transport(over), c) {
				return
			}
		}
	}
}
