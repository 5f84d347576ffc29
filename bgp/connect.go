package bgp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// dialled is how an attempt to connect ended.
type dialled struct {
	conn net.Conn
	err  error
}

// connect waits for the next connection of the peer: one that we open after the delay, or one that it
// opens. Without a connection and an error, ctx ended.
func (r *relay) connect(ctx context.Context, delay time.Duration) (net.Conn, error) {
	dialling, cancel := context.WithCancel(ctx)
	var result chan dialled // set while we dial
	defer func() {
		cancel()
		if result != nil {
			discard(<-result)
		}
	}()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	r.learnKey()
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case conn := <-r.offers:
			if r.welcome() {
				return r.secured(conn)
			}
			abort(conn)
		case o := <-r.orders:
			if o.resume && result == nil {
				timer.Reset(0)
			}
			if o.pause > 0 {
				return nil, o
			}
		case <-timer.C:
			if r.peer.Passive {
				r.learnKey()
				timer.Reset(keyPeriod)
				continue
			}
			r.state(Connecting, "")
			result = r.dials(dialling)
		case d := <-result:
			result = nil
			return d.conn, d.err
		}
	}
}

// dials begins to open a connection. Whoever calls it takes what comes of it.
func (r *relay) dials(ctx context.Context) chan dialled {
	result := make(chan dialled, 1)
	go func() {
		conn, err := r.dial(ctx)
		result <- dialled{conn, err}
	}()
	return result
}

func discard(d dialled) {
	if d.conn != nil {
		abort(d.conn)
	}
}

// learnKey reads the peer's password and gives it to the listeners. A peer whose password cannot be
// read is not let in with an older one.
func (r *relay) learnKey() {
	password, err := r.password()
	if err := errors.Join(err, r.sign(password)); err != nil {
		r.trouble(err.Error())
	}
}

// password reads the peer's password, or gives "" for one that has none.
func (r *relay) password() (string, error) {
	if r.peer.PasswordFile == "" {
		return "", nil
	}
	return readPassword(r.peer.PasswordFile)
}

// dial opens a connection to the peer.
func (r *relay) dial(ctx context.Context) (net.Conn, error) {
	password, err := r.password()
	if err != nil {
		return nil, err
	}
	ipv6 := r.peer.Address.Is6()
	options := []control{farthestTTL(ipv6), nearbyOnly(ipv6, r.peer.TTLSecurity)}
	if password != "" {
		options = append(options, signed(r.peer.Address, password))
	}
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: -1, Control: controlled(options...)}
	d.SetMultipathTCP(false)
	if r.peer.Local.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(r.peer.Local, 0))
	}
	conn, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(r.peer.Address, r.peer.port()).String())
	if err != nil {
		return nil, fmt.Errorf("connect to port %d: %s", r.peer.port(), bare(err))
	}
	return conn, nil
}

// welcome tells whether the peer may connect again so soon.
func (r *relay) welcome() bool {
	now := time.Now()
	admitted := r.damp.admits(now)
	if refused, due := r.damp.tells(now); due {
		r.log.Warn("peer connects too often: connections refused", "connections", refused)
	}
	return admitted
}

// secured gives a connection that the peer opened, with the options that it is wanted with, or closes it.
func (r *relay) secured(conn net.Conn) (net.Conn, error) {
	if err := r.secure(conn); err != nil {
		abort(conn)
		return nil, err
	}
	return conn, nil
}

// secure holds a connection that the peer opened to the TTL security it is wanted with.
func (r *relay) secure(conn net.Conn) error {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	c, err := tcp.SyscallConn()
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	return setOptions(c, nearbyOnly(r.peer.Address.Is6(), r.peer.TTLSecurity))
}

// own is our address on a connection, unless it is that of the peer, too: one that runs beside us.
func own(conn net.Conn) netip.Addr {
	ours, theirs := addrPort(conn.LocalAddr()).Addr(), addrPort(conn.RemoteAddr()).Addr()
	if ours == theirs {
		return netip.Addr{}
	}
	return ours
}

// callSpeaker opens a connection to the speaker, which knows by its address and its signature whose it is.
func (r *relay) callSpeaker(ctx context.Context, port uint16) (net.Conn, error) {
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
	d := net.Dialer{Timeout: takeTimeout, KeepAlive: -1, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(r.loopback, 0))}
	d.SetMultipathTCP(false)
	if r.secret != "" {
		d.Control = controlled(signed(at.Addr(), r.secret))
	}
	return d.DialContext(ctx, "tcp4", at.String())
}

// secretsHindered says why connections on loopback cannot be signed here, if so.
func secretsHindered() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer unix.Close(fd)
	return signed(loopback(1), "probe")(fd)
}
