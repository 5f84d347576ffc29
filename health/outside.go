package health

import (
	"context"
	"crypto/x509"
	"net/netip"
	"sync"
	"time"
)

// Prober asks an address what a check wants to know. It answers within the check's timeout, and
// soon after ctx has ended; what it answers then is thrown away.
type Prober func(ctx context.Context, address netip.Addr, c Check) Result

// Outside is the world that probes ask, and what the probes of all endpoints share. Its methods are safe for concurrent
// use.
type Outside struct {
	roots *x509.CertPool // that certificates are verified against; nil: the system's
	trust trustFiles

	commands chan struct{} // one for each that runs
	mail     mail
	loads    sync.Map // of Load by errand: of targets, and of endpoints that callers have made sure of, so that they are few

	answers sync.Pool // of *answer
	kept    *kept

	mu       sync.Mutex
	stuck    map[errand]bool // what outlived its probe
	requests map[inquiry][]byte
}

// NewOutside gives the real world.
func NewOutside() *Outside {
	return &Outside{commands: make(chan struct{}, commandsMax), stuck: map[errand]bool{}, requests: map[inquiry][]byte{}, kept: newKept()}
}

// Retain forgets what is kept for anything but these targets: connections, and what was reported. From now on no
// connections are kept for anything else.
func (o *Outside) Retain(targets []Target) {
	errands, boxes := map[errand]bool{}, map[box]bool{}
	for _, t := range targets {
		switch k := t.Check.Kind.(type) {
		case HTTP:
			if k.Keep {
				errands[errand{k, t.Address}] = true
			}
		case Push:
			boxes[box{k.Name, t.Address}] = true
		}
	}
	o.kept.retain(errands)
	o.mail.retain(boxes)
	o.forgetLoads(targets)
}

// Probe is a [Prober]. Every probe asks anew, on a connection of its own unless the check has one kept; the check's
// timeout bounds all of it, from connecting to the last byte read.
func (o *Outside) Probe(ctx context.Context, address netip.Addr, c Check) Result {
	start := time.Now()
	v := visit{Outside: o, at: address, wanted: ctx, until: start.Add(c.Timeout)}
	err := v.over() // with no time there is no probe
	switch {
	case err != nil:
	case c.Kind == nil:
		err = fault("no probe of this kind")
	default:
		err = c.Kind.ask(&v)
	}
	r := Result{OK: err == nil, Took: time.Since(start)}
	if err != nil {
		r.Ours, r.Cause = hinders(err), cause(v.during(err), c)
	}
	return c.Timely(r)
}
