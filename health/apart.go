package health

import (
	"context"
	"net/netip"
	"time"
)

// errand is work for one endpoint that may outlive its probe.
type errand struct {
	kind Kind
	at   netip.Addr
}

// grace is what work that ends with its context is given to do so.
const grace = 200 * time.Millisecond

// apart does work that the kernel may hold up longer than any deadline: reading from a disk that hangs,
// ending a process that cannot be killed. When ctx ends first the work is left to itself, and until it is
// done the same is not begun again: there is at most one goroutine, and one file or process, that is
// waited for in vain by each kind of check and endpoint.
func (o *Outside) apart(ctx context.Context, e errand, work func() error) error {
	o.mu.Lock()
	stuck := o.stuck[e]
	o.mu.Unlock()
	if stuck {
		return fault("the probe before still hangs")
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
	}
	o.mark(e, true)
	go func() {
		<-done
		o.mark(e, false)
	}()
	return ctx.Err()
}

func (o *Outside) mark(e errand, stuck bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if stuck {
		o.stuck[e] = true
	} else {
		delete(o.stuck, e)
	}
}
