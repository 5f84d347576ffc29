package dns

import (
	"iter"
	"sync/atomic"
	"time"

	"gslb/dns/steer"
	"gslb/health/spread"
)

// meter is what one worker measures beside what it counts.
type meter struct {
	scopes [2][129]atomic.Uint64 // answers to questions with a client subnet, by its family and by the scope that was given
	spread spread.Spread         // of the time that a reply takes, of some
	seen   uint64                // requests; only the worker reads it
}

// LatencyShare is of how many requests one is timed: to look at the clock twice costs as much as to parse one.
const LatencyShare = 64

// sampled tells whether the next request is one to be timed.
func (m *meter) sampled() bool {
	m.seen++
	return m.seen%LatencyShare == 0
}

// scope counts the scope of an answer to a question with a client subnet.
func (m *meter) scope(l *lookup) {
	if l.q.ecs == nil || !l.q.subnet.Given() {
		return
	}
	family := steer.IPv6
	if l.q.subnet.Prefix.Addr().Is4() {
		family = steer.IPv4
	}
	scope := 0
	if l.echoes() {
		scope = l.sought.Client.Scope(l.span)
	}
	m.scopes[family][min(scope, 128)].Add(1)
}

// ScopeOf is the scope of answers to questions with a client subnet, and its family: 4 or 6.
type ScopeOf struct {
	Family string
	Bits   int
}

// Scopes gives the answers to questions with a client subnet, by scope, those that occurred.
func (c *Counts) Scopes() iter.Seq2[ScopeOf, uint64] {
	return func(yield func(ScopeOf, uint64) bool) {
		for f, family := range []string{"ipv4", "ipv6"} {
			for bits := range 129 {
				n := c.sum(func(t *tally) *atomic.Uint64 { return &t.scopes[f][bits] })
				if n > 0 && !yield(ScopeOf{family, bits}, n) {
					return
				}
			}
		}
	}
}

// Latency is how long replies take to make, from the packet to the reply, of one request in [LatencyShare].
func (c *Counts) Latency() (sum spread.Sum) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tallies {
		sum.Take(&t.spread)
	}
	return sum
}

// Respond answers one request, as [Responder.Respond] does. It does not allocate for common questions.
func (w *Worker) Respond(s *steer.Snapshot, req Request, to []byte) []byte {
	timed, tracers := w.tally.sampled(), w.responder.tracers.Load()
	if !timed && tracers == nil {
		return w.reply(s, &req, to)
	}
	begin := time.Now()
	var reply []byte
	if tracers != nil {
		reply = w.traced(s, &req, to, *tracers)
	} else {
		reply = w.reply(s, &req, to)
	}
	if timed {
		w.tally.spread.Add(time.Since(begin))
	}
	return reply
}
