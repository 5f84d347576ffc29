package dns

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/steer"
)

// Trace is a copy of one request with what it got. It belongs to its reader until the reader gives it back.
type Trace struct {
	Source   netip.Addr
	Over     Transport
	Asked    time.Time
	Answered time.Time
	Query    []byte
	Reply    []byte // empty: there was none
	Outcome
}

// Outcome is what was decided for a request.
type Outcome struct {
	Rcode   int
	Held    bool   // by the rate limit: cut or not sent
	Service string // "": none
	Placed  steer.Placed
	TTL     uint32
	Scope   int // that the client's subnet was answered with; -1: there was no subnet
	places  [config.MaxAddresses]string
	count   int
}

// Places are the places that the answer gives. They are good for as long as the trace is.
func (o *Outcome) Places() []string { return o.places[:o.count] }

// Tracer takes copies of some of the requests. Workers never wait for its reader: when that falls behind, traces are
// lost, and counted. It has a fixed number of them, which go round.
type Tracer struct {
	every uint64
	free  chan *Trace
	full  chan *Trace
	taken atomic.Uint64
	lost  atomic.Uint64
}

// NewTracer makes a tracer that copies one request in so many, and holds up to so many traces that nobody has read yet.
func NewTracer(every uint64, room int) *Tracer {
	t := &Tracer{every: max(every, 1), free: make(chan *Trace, room), full: make(chan *Trace, room)}
	for range room {
		t.free <- &Trace{}
	}
	return t
}

// Counts tells how many traces were taken and how many were lost.
func (t *Tracer) Counts() (taken, lost uint64) { return t.taken.Load(), t.lost.Load() }

// Read hands every trace to use, until the context ends; rest is called when there is no other yet.
func (t *Tracer) Read(ctx context.Context, use func(*Trace), rest func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case trace := <-t.full:
			use(trace)
			t.free <- trace // there is room for all
			if len(t.full) == 0 {
				rest()
			}
		}
	}
}

// Lose gives up a trace that was taken and could not be written anywhere.
func (t *Tracer) Lose() { t.lost.Add(1) }

// Trace has the responder's requests copied to these tracers from now on, and to no others.
func (r *Responder) Trace(tracers ...*Tracer) {
	if len(tracers) == 0 {
		r.tracers.Store(nil)
		return
	}
	r.tracers.Store(&tracers)
}

// traced answers one request, and copies it to those tracers whose turn it is.
func (w *Worker) traced(s *steer.Snapshot, req *Request, to []byte, tracers []*Tracer) []byte {
	due := false
	for _, t := range tracers {
		due = due || w.tally.seen%t.every == 0
	}
	if !due {
		return w.reply(s, req, to)
	}
	w.watched, w.outcome = true, Outcome{Scope: -1}
	reply := w.reply(s, req, to)
	w.watched = false
	for _, t := range tracers {
		if w.tally.seen%t.every == 0 {
			t.take(w, *req, reply[len(to):])
		}
	}
	return reply
}

// take copies one request. Octets are copied into what an earlier trace has left.
func (t *Tracer) take(w *Worker, req Request, reply []byte) {
	select {
	case trace := <-t.free:
		trace.Source, trace.Over, trace.Asked, trace.Answered = req.Source.Unmap().WithZone(""), req.Over, req.Now, time.Now()
		trace.Query, trace.Reply = append(trace.Query[:0], req.Packet...), append(trace.Reply[:0], reply...)
		trace.Outcome = w.outcome
		t.taken.Add(1)
		t.full <- trace // there is room for all
	default:
		t.lost.Add(1)
	}
}

// note keeps what was decided, before the lookup forgets it.
func (w *Worker) note(l *lookup, f fate) {
	o := &w.outcome
	o.Rcode, o.Held = l.rcode, f == dropped || f == slipped
	if l.q.subnet.Given() {
		o.Scope = 0
		if l.echoes() {
			o.Scope = l.sought.Client.Scope(l.span)
		}
	}
	if l.service < 0 {
		return
	}
	svc := l.s.Policy().Service(l.service)
	o.Service, o.Placed, o.TTL = svc.Name(), l.placed, l.decision.TTL
	for _, m := range l.decision.Members() {
		o.places[o.count] = svc.Places()[m]
		o.count++
	}
}

// Question is what was asked for, in words; empty where the request has no question that can be read. The subnet is that of
// the client, if the request carries one.
func (t *Trace) Question() (name, kind, subnet string) {
	m := new(dns.Msg)
	if m.Unpack(t.Query) != nil || len(m.Question) != 1 {
		return "", "", ""
	}
	if o := m.IsEdns0(); o != nil {
		for _, option := range o.Option {
			if s, ok := option.(*dns.EDNS0_SUBNET); ok {
				subnet = fmt.Sprintf("%s/%d", s.Address, s.SourceNetmask)
			}
		}
	}
	return m.Question[0].Name, dns.Type(m.Question[0].Qtype).String(), subnet
}
