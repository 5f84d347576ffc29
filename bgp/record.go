package bgp

import (
	"maps"
	"net"
	"net/netip"
	"sync"
	"time"

	"gslb/bgp/screen"
	"gslb/bgp/wire"
)

// record is what the operator sees of one peer. It is safe for concurrent use.
type record struct {
	mu   sync.Mutex
	view PeerView
	will bool // the last connection ended by the partner's will
}

func newRecord(peer Peer) *record {
	return &record{view: PeerView{Peer: peer, Since: time.Now(), Refused: make(map[string]uint64)}}
}

// state notes how far the session is and, unless it is empty, what went wrong.
func (c *record) state(s State, cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cause != "" {
		c.view.Cause = cause
	}
	if c.view.State == s {
		return
	}
	if c.view.State == Established {
		c.view.Flaps++
	}
	c.view.State, c.view.Since = s, time.Now()
}

// solved notes that what went wrong last is no longer so.
func (c *record) solved(cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view.Cause == cause {
		c.view.Cause = ""
	}
}

// stands notes a connection, and nil that it is gone.
func (c *record) stands(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn == nil {
		c.view.Local, c.view.Remote = netip.AddrPort{}, netip.AddrPort{}
		return
	}
	c.view.Connects++
	c.view.Local, c.view.Remote = addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
}

func addrPort(a net.Addr) netip.AddrPort {
	if tcp, ok := a.(*net.TCPAddr); ok {
		p := tcp.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	return netip.AddrPort{}
}

// paused notes until when the peer is left alone, and, unless it is empty, why.
func (c *record) paused(until time.Time, cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view.Paused = until
	if cause != "" {
		c.view.Cause = cause
	}
}

// screened counts what the screen made of one message.
func (c *record) screened(v screen.Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view.Screened++
	c.view.Dropped += uint64(v.Dropped)
	c.view.Withdrawn += uint64(v.Withdrawn)
	if v.Reason != screen.NoReason {
		c.view.Refused[v.Reason.String()]++
	}
}

// settled notes what the session is about; the zero Session that it is down.
func (c *record) settled(s wire.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view.Session = s
}

// ended notes why a connection ended.
func (c *record) ended(e farewell) {
	c.state(Idle, e.text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.will = e.will
}

// cause is why the last connection ended.
func (c *record) cause() Cause {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Cause{Administrative: c.will, Text: c.view.Cause}
}

// show is the peer as the operator sees it now.
func (c *record) show() PeerView {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view
	v.Refused = maps.Clone(v.Refused)
	return v
}
