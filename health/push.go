package health

import (
	"context"
	"maps"
	"net/netip"
	"sync"
)

// Push takes what an application, or a balancer that watches its traffic, reports of an endpoint. Each probe takes what
// was reported since the probe before; of several reports a bad one counts. If there is none it waits for the next, and
// a report that does not come before the timeout is a failure. So the window keeps the pace of the check, however often
// somebody reports, and whoever stops reporting is withdrawn like whoever stops answering.
type Push struct {
	Name string // of the check: reports are addressed to it, and to the endpoint
}

// String is the word of the config.
func (Push) String() string { return "push" }

func (p Push) tell(add func(field, value string)) { add("name", p.Name) }

func (p Push) ask(v *visit) error {
	ctx, end := v.timed()
	defer end()
	r, ok := v.mail.take(ctx, box{p.Name, v.at})
	switch {
	case !ok:
		return fault("no report")
	case r.OK:
		return nil
	case r.Cause == "":
		return fault("reported")
	}
	return fault("reported: " + r.Cause)
}

// Report brings the result of a push check of this name for an endpoint. A report for an endpoint that is not probed by
// such a check would never be read: callers make sure that there is one.
func (o *Outside) Report(check string, at netip.Addr, r Result) {
	if r.Loaded {
		o.weigh(Push{check}, at, r.Load)
	}
	o.mail.put(box{check, at}, Result{OK: r.OK, Cause: oneLine(r.Cause)})
}

// box is where the reports of an endpoint arrive.
type box struct {
	check string
	at    netip.Addr
}

// mail is what was reported and not read, and who waits for a report. A box has one report or one reader at
// most. The zero value is empty.
type mail struct {
	mu      sync.Mutex
	lying   map[box]Result
	readers map[box]chan Result // each takes one
}

// put hands a report to the reader who waits, or leaves it for the next. It never waits.
func (m *mail) put(b box, r Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if reader := m.readers[b]; reader != nil {
		delete(m.readers, b)
		reader <- r // has room
		return
	}
	if m.lying == nil {
		m.lying = map[box]Result{}
	}
	if before, ok := m.lying[b]; !ok || before.OK {
		m.lying[b] = r
	}
}

// retain empties all other boxes. Whoever waits at one is about to leave.
func (m *mail) retain(boxes map[box]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.lying, func(b box, _ Result) bool { return !boxes[b] })
}

// take reads what lies in the box, or waits for it.
func (m *mail) take(ctx context.Context, b box) (Result, bool) {
	reader := make(chan Result, 1)
	if r, ok := m.open(b, reader); ok {
		return r, true
	}
	select {
	case r := <-reader:
		return r, true
	case <-ctx.Done():
		m.leave(b, reader)
		return Result{}, false
	}
}

// leave ends the waiting of a reader. What it was handed meanwhile it leaves for the next.
func (m *mail) leave(b box, reader chan Result) {
	m.mu.Lock()
	if m.readers[b] == reader {
		delete(m.readers, b)
	}
	m.mu.Unlock()
	select {
	case r := <-reader:
		m.put(b, r)
	default:
	}
}

// open reads what lies in the box; else the reader is the one who waits, until another comes.
func (m *mail) open(b box, reader chan Result) (Result, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.lying[b]
	delete(m.lying, b)
	if !ok {
		if m.readers == nil {
			m.readers = map[box]chan Result{}
		}
		m.readers[b] = reader
	}
	return r, ok
}
