package bgp

import "sync"

// gate tells the relays where the speaker takes connections, while it does.
type gate struct {
	mu      sync.Mutex
	port    uint16        // on loopback; 0: no speaker
	changed chan struct{} // closed when port is no longer so
}

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// set makes the port the one that holds; 0 shuts the gate.
func (g *gate) set(port uint16) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.port == port {
		return
	}
	g.port = port
	close(g.changed)
	g.changed = make(chan struct{})
}

// now gives the port, or 0, and a channel that is closed when that is over.
func (g *gate) now() (port uint16, over <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.port, g.changed
}
