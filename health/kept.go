package health

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// channel is a connection on which one page is asked for, or with keepalive one after another. It belongs to the
// probe that is in flight, or to kept.
type channel struct {
	socket
	stream net.Conn    // the socket, or TLS on it
	door   door        // where it leads to
	until  time.Time   // it is not kept longer
	reused bool        // it was kept since an earlier probe
	stop   func() bool // ends the bond to the visit of the probe
}

// door is where a channel leads to at its address.
type door struct {
	tls  bool
	port uint16
}

// channelAge bounds how long a channel is kept: what a new connection would meet with, another certificate or another
// server behind a balancer, is not to be overlooked for ever.
const channelAge = 10 * time.Minute

// open opens a channel.
func (h *HTTP) open(v *visit) (*channel, error) {
	s, err := connect(netip.AddrPortFrom(v.at, h.Port))
	if err != nil {
		return nil, err
	}
	c := &channel{socket: s, stream: s, door: door{h.TLS, h.Port}}
	c.bind(v)
	if !h.TLS {
		return c, nil
	}
	// Only HTTP/1.1 is offered: it is what every server speaks, and what the bounds are made for.
	secure, err := v.handshake(s, h.Trust, serverName(v.at, h.Host), "http/1.1")
	if err != nil {
		c.Close()
		return nil, err
	}
	c.stream, c.until = secure, h.Trust.until(secure)
	return c, nil
}

// bind ends all waiting on the channel with the visit.
func (c *channel) bind(v *visit) { c.stop = v.bound(c.socket).stop }

// Close closes the channel.
func (c *channel) Close() {
	c.stop()
	c.stream.Close()
}

// quiet tells whether nothing has come since the last answer: neither the end, nor what nobody asked for.
func (c *channel) quiet() bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Control(func(fd uintptr) {
		_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = err == unix.EAGAIN
	})
	return err == nil && quiet
}

// kept keeps channels from one probe to the next: of each errand and door at most one, and no more than most.
type kept struct {
	most int

	mu     sync.Mutex
	wanted map[errand]bool // for which channels are kept; nil: for all
	idle   map[seat]*channel
}

// seat is whose channel is kept.
type seat struct {
	errand
	door
}

// keptMax is how many channels are kept at most. They take no more than a quarter of the files that this process
// may have open.
const keptMax = 10_000

func newKept() *kept {
	k := &kept{most: keptMax, idle: map[seat]*channel{}}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		k.most = int(min(keptMax, files.Cur/4))
	}
	return k
}

// take gives the channel that was kept for an errand, bound to the visit; nil: none, or none that is of any use.
func (v *visit) take(e errand, d door) *channel {
	k := v.kept
	k.mu.Lock()
	c := k.idle[seat{e, d}]
	delete(k.idle, seat{e, d})
	k.mu.Unlock()
	if c == nil {
		return nil
	}
	c.bind(v)
	if time.Now().After(c.until) || !c.quiet() {
		c.Close()
		return nil
	}
	c.reused = true
	return c
}

// put keeps a channel after a probe of the errand, or closes it.
func (k *kept) put(e errand, c *channel, now time.Time) {
	if age := now.Add(channelAge); !c.reused && (c.until.IsZero() || age.Before(c.until)) {
		c.until = age
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at := seat{e, c.door}
	unwanted := k.wanted != nil && !k.wanted[e]
	if unwanted || now.After(c.until) || len(k.idle) >= k.most || k.idle[at] != nil {
		c.stream.Close()
		return
	}
	k.idle[at] = c
}

// retain closes the channels that are kept for other errands, and keeps none for them any more. Until it is called they
// are kept for all.
func (k *kept) retain(wanted map[errand]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wanted = wanted
	for at, c := range k.idle {
		if !wanted[at.errand] {
			delete(k.idle, at)
			c.stream.Close()
		}
	}
}
