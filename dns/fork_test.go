package dns

import (
	"context"
	"net/netip"
	"os/exec"
	"sync"
	"testing"
)

// A port must not be lost to a child that is being started: until it runs its program it holds every
// socket that its parent had.
func TestListenWhileChildrenAreStarted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for ctx.Err() == nil {
				_ = exec.Command("/bin/true").Run() // what it does is of no matter
			}
		})
	}
	defer starting.Wait()
	defer cancel()
	for i := range 300 {
		packets, listener, err := bind(ctx, netip.AddrPortFrom(netip.MustParseAddr("127.77.0.1"), uint16(20000+i)), 2)
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
		for _, p := range packets {
			_ = p.Close()
		}
	}
}
