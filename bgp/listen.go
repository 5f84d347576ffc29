package bgp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"sync"
	"time"
)

// listener takes the connections of all peers that come to one address, and hands each to the relay of
// the peer it comes from. An address that cannot be listened on is tried again, and the cause shown.
type listener struct {
	address netip.AddrPort
	relay   func(source netip.Addr) *relay // nil: the source is no peer
	log     *slog.Logger

	mu      sync.Mutex
	socket  *net.TCPListener      // nil while it does not listen
	keys    map[netip.Addr]string // TCP MD5 keys of the peers of its family
	cause   string
	unknown uint64
}

func newListener(address netip.AddrPort, find func(netip.Addr) *relay, log *slog.Logger) *listener {
	return &listener{address: address, relay: find, log: log, keys: make(map[netip.Addr]string), cause: "not yet"}
}

// key sets the key that connections of a peer must be signed with; "" takes it away. Connections that
// stand keep theirs.
func (l *listener) key(peer netip.Addr, password string) error {
	if peer.Is4() != l.address.Addr().Is4() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys[peer] == password {
		return nil
	}
	if l.socket != nil {
		if err := l.sign(l.socket, peer, password); err != nil {
			return err
		}
	}
	l.keys[peer] = password
	if password == "" {
		delete(l.keys, peer)
	}
	return nil
}

func (l *listener) sign(socket *net.TCPListener, peer netip.Addr, password string) error {
	c, err := socket.SyscallConn()
	if err == nil {
		err = setOptions(c, signed(peer, password))
	}
	if err != nil {
		return fmt.Errorf("key of peer %s on %s: %w", peer, l.address, err)
	}
	return nil
}

// run listens until ctx ends.
func (l *listener) run(ctx context.Context) {
	wait := backoff{least: time.Second, most: time.Minute}
	for ctx.Err() == nil {
		socket, err := l.listen(ctx)
		if err == nil {
			wait.reset()
			stop := context.AfterFunc(ctx, func() { socket.Close() })
			err = l.accept(ctx, socket)
			stop()
			_ = socket.Close()
		}
		if ctx.Err() != nil {
			return
		}
		l.deaf(err)
		pause(ctx, wait.next())
	}
}

// deaf notes that the address is not listened on.
func (l *listener) deaf(err error) {
	l.mu.Lock()
	told := l.cause == err.Error()
	l.socket, l.cause = nil, err.Error()
	l.mu.Unlock()
	if !told {
		l.log.Error("cannot listen for peers", "address", l.address, "cause", err)
	}
}

// listen opens the socket with the keys of all peers, so that no unsigned connection slips in first.
func (l *listener) listen(ctx context.Context) (*net.TCPListener, error) {
	ipv6 := l.address.Addr().Is6()
	l.mu.Lock()
	keys := maps.Clone(l.keys)
	l.mu.Unlock()
	options := []control{farthestTTL(ipv6)}
	for peer, password := range keys {
		options = append(options, signed(peer, password))
	}
	lc := net.ListenConfig{Control: controlled(options...), KeepAlive: -1}
	lc.SetMultipathTCP(false) // the kernel signs no multipath connection
	network := "tcp4"
	if ipv6 {
		network = "tcp6"
	}
	s, err := lc.Listen(ctx, network, l.address.String())
	if err != nil {
		return nil, err
	}
	socket := s.(*net.TCPListener)
	if err := l.hear(socket, keys); err != nil {
		_ = socket.Close()
		return nil, err
	}
	return socket, nil
}

// hear makes the socket the one that is listened on, once it has the keys that were set meanwhile.
func (l *listener) hear(socket *net.TCPListener, keys map[netip.Addr]string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for peer := range keys {
		if l.keys[peer] == "" {
			if err := l.sign(socket, peer, ""); err != nil {
				return err
			}
		}
	}
	for peer, password := range l.keys {
		if keys[peer] != password {
			if err := l.sign(socket, peer, password); err != nil {
				return err
			}
		}
	}
	l.socket, l.cause = socket, ""
	return nil
}

// accept hands on connections until ctx ends or the socket is of no more use.
func (l *listener) accept(ctx context.Context, socket *net.TCPListener) error {
	const mostFailures = 10
	for failures := 0; ; {
		conn, err := socket.AcceptTCP()
		if err == nil {
			failures = 0
			l.admit(conn)
			continue
		}
		if failures++; failures == mostFailures || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond) // out of descriptors, most likely
	}
}

// admit hands a connection to the relay of the peer it comes from.
func (l *listener) admit(conn *net.TCPConn) {
	source := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	l.mu.Lock()
	_, signed := l.keys[source]
	l.mu.Unlock()
	r := l.relay(source)
	if r == nil {
		l.mu.Lock()
		l.unknown++
		l.mu.Unlock()
		abort(conn)
		return
	}
	r.offer(conn, signed)
}

// view is the listener as the operator sees it.
func (l *listener) view() ListenView {
	l.mu.Lock()
	defer l.mu.Unlock()
	return ListenView{Address: l.address, Cause: l.cause, Unknown: l.unknown}
}

// abort closes a connection without leaving anything of it in the kernel.
func abort(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // what is left is closed either way
	}
	_ = conn.Close()
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
