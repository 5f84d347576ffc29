package dns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"

	"gslb/dns/steer"
)

// Server is the sockets that requests come in by. The zero value is not usable.
type Server struct {
	responder *Responder
	snapshot  func() *steer.Snapshot
	log       *slog.Logger

	mu    sync.Mutex               // held while sockets are opened and closed, which waits for no client
	doors map[netip.AddrPort]*door // by the address that was asked for
}

// NewServer makes a server without sockets. Every request is answered from the snapshot that is
// the latest when it comes in.
func NewServer(r *Responder, latest func() *steer.Snapshot, log *slog.Logger) *Server {
	return &Server{responder: r, snapshot: latest, log: log, doors: map[netip.AddrPort]*door{}}
}

// Listen makes the given addresses the ones that are served, by UDP and TCP each. Those that are
// served already are not touched, others are closed. On an error nothing has changed.
func (s *Server) Listen(addresses []netip.AddrPort) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	opened := map[netip.AddrPort]*door{}
	var errs []error
	for _, a := range addresses {
		if s.doors[a] != nil || opened[a] != nil {
			continue
		}
		d, err := s.open(a)
		if err != nil {
			errs = append(errs, fmt.Errorf("listen on %s: %w", a, err))
			continue
		}
		opened[a] = d
	}
	if len(errs) > 0 {
		for _, d := range opened {
			d.close()
		}
		return errors.Join(errs...)
	}
	for a, d := range s.doors {
		if !slices.Contains(addresses, a) {
			d.close()
			delete(s.doors, a)
			s.log.Info("address no longer served", "address", d.address)
		}
	}
	for a, d := range opened {
		s.doors[a] = d
		s.log.Info("address served", "address", d.address)
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
func (s *Server) Close() error { return s.Listen(nil) }

// door is one address that is served: its sockets and the goroutines that read from them.
type door struct {
	address netip.AddrPort
	cancel  context.CancelFunc
	closers []func() error
	readers sync.WaitGroup
}

func (d *door) close() {
	d.cancel()
	for _, c := range d.closers {
		_ = c() // the goroutine that reads there learns of it
	}
	d.readers.Wait()
}

// open makes the sockets of one address, all or none.
func (s *Server) open(a netip.AddrPort) (*door, error) {
	ctx, cancel := context.WithCancel(context.Background())
	d := &door{cancel: cancel}
	packets, listener, err := bind(ctx, a)
	if err != nil {
		cancel()
		return nil, err
	}
	d.address = listener.Addr().(*net.TCPAddr).AddrPort()
	d.address = netip.AddrPortFrom(a.Addr(), d.address.Port())
	for _, conn := range packets {
		d.closers = append(d.closers, conn.Close)
		d.readers.Go(func() { s.serveUDP(ctx, conn, a.Addr().IsUnspecified()) })
	}
	d.closers = append(d.closers, listener.Close)
	d.readers.Go(func() { s.serveTCP(ctx, listener) })
	return d, nil
}
