package dns

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds on the connections that are open on one address. A new one is always let in: what makes room for it is
// the one that has been silent for the longest, of the same source when that has too many.
const (
	tcpConnections = 4096
	tcpPerSource   = 256 // of one IPv4 address or IPv6 /64
)

// crowd is the connections that are open on one address.
type crowd struct {
	total, perSource int

	mu      sync.Mutex
	guests  map[*guest]struct{}
	sources map[netip.Prefix]int
}

// guest is an open connection.
type guest struct {
	source netip.Prefix // guarded by the crowd's mu
	heard  atomic.Int64 // when its last whole request came, in nanoseconds of the clock
	close  func()       // may be called at any time, and again; it waits for nobody
}

func newCrowd(total, perSource int) *crowd {
	return &crowd{total: total, perSource: perSource, guests: map[*guest]struct{}{}, sources: map[netip.Prefix]int{}}
}

// enter lets a connection in, and closes another where there are too many.
func (c *crowd) enter(source netip.Addr, now time.Time, closing func()) *guest {
	g := &guest{source: sourceOf(source), close: closing}
	g.heardAt(now)
	if out := c.admit(g); out != nil {
		out.close()
	}
	return g
}

// admit takes a connection in, and gives the one that is to be closed for it, or nil.
func (c *crowd) admit(g *guest) (out *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.take(g)
}

// take does so. The caller holds mu.
func (c *crowd) take(g *guest) (out *guest) {
	switch {
	case c.sources[g.source] >= c.perSource:
		out = c.longestSilent(func(o *guest) bool { return o.source == g.source })
	case len(c.guests) >= c.total:
		out = c.longestSilent(func(*guest) bool { return true })
	}
	if out != nil {
		c.forget(out)
	}
	c.guests[g] = struct{}{}
	c.sources[g.source]++
	return out
}

// move has a connection count as another source's, when it turns out whose it is.
func (c *crowd) move(g *guest, source netip.Addr) {
	if out := c.readmit(g, sourceOf(source)); out != nil {
		out.close()
	}
}

// readmit takes a connection in again, unless it has been told to leave, and gives the one that is to be closed for it,
// or nil.
func (c *crowd) readmit(g *guest, source netip.Prefix) (out *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, in := c.guests[g]; !in {
		return nil
	}
	c.forget(g)
	g.source = source
	return c.take(g)
}

// longestSilent gives the one that has been silent for the longest, of those that may be closed. The caller
// holds mu.
func (c *crowd) longestSilent(may func(*guest) bool) (longest *guest) {
	for g := range c.guests {
		if may(g) && (longest == nil || g.heard.Load() < longest.heard.Load()) {
			longest = g
		}
	}
	return longest
}

// leave is for a connection that has ended, closed by whomever.
func (c *crowd) leave(g *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(g)
}

// forget takes a connection out, once. The caller holds mu.
func (c *crowd) forget(g *guest) {
	if _, in := c.guests[g]; !in {
		return
	}
	delete(c.guests, g)
	if c.sources[g.source]--; c.sources[g.source] == 0 {
		delete(c.sources, g.source)
	}
}

// heardAt notes that a whole request came.
func (g *guest) heardAt(now time.Time) { g.heard.Store(now.UnixNano()) }

// sourceOf is what counts as one source: nobody has fewer IPv6 addresses than a /64.
func sourceOf(a netip.Addr) netip.Prefix {
	bits := 32
	if a = a.Unmap().WithZone(""); a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // never fails: the family has so many bits
	return p
}
