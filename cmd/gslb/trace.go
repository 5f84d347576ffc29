package main

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"reflect"
	"sync"

	"gslb/config"
	"gslb/dns"
	"gslb/dns/admin"
)

// tracesKept is how many traces wait for a reader at most: what comes while it writes.
const tracesKept = 1024

// tracing brings copies of questions and answers to those who want them: a log of questions, a reader of dnstap.
type tracing struct {
	responder *dns.Responder
	log       *slog.Logger
	applied   chan struct{} // one slot

	mu     sync.Mutex
	wanted config.Server
	sinks  []sink
}

// sink is one who wants traces.
type sink struct {
	name   string
	tracer *dns.Tracer
	run    func(ctx context.Context)
}

func newTracing(r *dns.Responder, log *slog.Logger) *tracing {
	return &tracing{responder: r, log: log, applied: make(chan struct{}, 1)}
}

// Apply says who wants traces from now on.
func (t *tracing) Apply(s config.Server) {
	t.mu.Lock()
	t.wanted = s
	t.mu.Unlock()
	signalSlot(t.applied)
}

// Run brings traces until ctx ends.
func (t *tracing) Run(ctx context.Context) error {
	defer t.responder.Trace()
	var now config.Server
	for {
		wanted, err := t.other(ctx, now)
		if err != nil {
			return nil // ctx has ended
		}
		now = wanted
		if err := t.serve(ctx, now); err != nil {
			return nil
		}
	}
}

// serve brings traces to those whom a configuration names, until another names others.
func (t *tracing) serve(ctx context.Context, now config.Server) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var crew sync.WaitGroup
	for _, s := range t.begin(now) {
		crew.Go(func() { s.run(inner) })
	}
	_, err := t.other(ctx, now)
	signalSlot(t.applied) // Run looks again what it is
	stop()
	crew.Wait()
	return err
}

// other waits for a configuration that names others.
func (t *tracing) other(ctx context.Context, now config.Server) (config.Server, error) {
	for {
		select {
		case <-ctx.Done():
			return now, ctx.Err()
		case <-t.applied:
		}
		t.mu.Lock()
		wanted := t.wanted
		t.mu.Unlock()
		if !reflect.DeepEqual(wanted.QueryLog, now.QueryLog) || !reflect.DeepEqual(wanted.Dnstap, now.Dnstap) {
			return wanted, nil
		}
	}
}

// begin makes the sinks of a configuration the ones that get traces.
func (t *tracing) begin(wanted config.Server) []sink {
	var sinks []sink
	var tracers []*dns.Tracer
	add := func(name string, every int, run func(context.Context, *dns.Tracer)) {
		tracer := dns.NewTracer(uint64(every), tracesKept)
		tracers = append(tracers, tracer)
		sinks = append(sinks, sink{name, tracer, func(ctx context.Context) { run(ctx, tracer) }})
	}
	if q := wanted.QueryLog; q != nil {
		add("query_log", q.Sample, func(ctx context.Context, tracer *dns.Tracer) {
			(&queryLog{path: q.File, asJSON: wanted.Log.Format == "json", log: t.log}).run(ctx, tracer)
		})
	}
	if d := wanted.Dnstap; d != nil {
		host, _ := os.Hostname()
		add("dnstap", d.Sample, func(ctx context.Context, tracer *dns.Tracer) {
			(&tap{to: *d, identity: cmp.Or(wanted.NSID, host), log: t.log}).run(ctx, tracer)
		})
	}
	t.responder.Trace(tracers...)
	t.mu.Lock()
	t.sinks = sinks
	t.mu.Unlock()
	return sinks
}

// Views tells how the sinks fare.
func (t *tracing) Views() []admin.TraceView {
	t.mu.Lock()
	defer t.mu.Unlock()
	var views []admin.TraceView
	for _, s := range t.sinks {
		taken, lost := s.tracer.Counts()
		views = append(views, admin.TraceView{Sink: s.name, Taken: taken, Lost: lost})
	}
	return views
}
