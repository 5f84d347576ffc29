package dns_test

import (
	"context"
	"net/netip"
	"slices"
	"testing"

	"gslb/dns"
)

// askTraced has a worker answer one question so many times.
func askTraced(t *testing.T, w *dns.Worker, what string, times int) {
	t.Helper()
	s := snapshot(t)
	packet, _ := question(t, what)
	for range times {
		w.Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: noon}, nil)
	}
}

// read gives the traces that wait.
func read(t *testing.T, tracer *dns.Tracer) (traces []dns.Trace) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	taken, _ := tracer.Counts()
	if taken == 0 {
		cancel()
		return nil
	}
	tracer.Read(ctx, func(trace *dns.Trace) {
		c := *trace
		c.Query, c.Reply = slices.Clone(trace.Query), slices.Clone(trace.Reply)
		traces = append(traces, c)
	}, cancel)
	return traces
}

func TestTracesTellWhatWasDecided(t *testing.T) {
	r := dns.NewResponder("ns1", "test")
	tracer := dns.NewTracer(1, 8)
	r.Trace(tracer)
	w := r.Worker()
	askTraced(t, w, "cdn.ok.test. A +ecs=203.0.113.0/24", 1)
	askTraced(t, w, "nope.ok.test. A", 1)
	traces := read(t, tracer)
	if len(traces) != 2 {
		t.Fatalf("%d traces", len(traces))
	}
	first, second := traces[0], traces[1]
	if first.Service == "" || len(first.Places()) != 1 || first.Placed.String() != "partners" || first.Scope != 24 || first.Rcode != 0 || len(first.Reply) == 0 {
		t.Errorf("got %+v, places %v", first.Outcome, first.Places())
	}
	if second.Service != "" || second.Rcode != 3 || second.Scope != -1 || len(second.Places()) != 0 {
		t.Errorf("got %+v", second.Outcome)
	}
}

// A reader that does not come costs traces, and nobody's time.
func TestTracesAreLostRatherThanWaitedFor(t *testing.T) {
	r := dns.NewResponder("ns1", "test")
	all, some := dns.NewTracer(1, 5), dns.NewTracer(10, 100)
	r.Trace(all, some)
	w := r.Worker()
	askTraced(t, w, "www.ok.test. A", 200)
	if taken, lost := all.Counts(); taken != 5 || lost != 195 {
		t.Errorf("%d taken and %d lost of 200, with room for 5", taken, lost)
	}
	if taken, lost := some.Counts(); taken != 20 || lost != 0 {
		t.Errorf("%d taken and %d lost of one in 10", taken, lost)
	}
	read(t, all)
	askTraced(t, w, "www.ok.test. A", 1)
	if taken, _ := all.Counts(); taken != 6 {
		t.Errorf("%d taken after the reader came", taken)
	}
	r.Trace()
	askTraced(t, w, "www.ok.test. A", 1)
	if taken, _ := all.Counts(); taken != 6 {
		t.Error("traces are taken for nobody")
	}
}

func TestTracedQuestionsDoNotAllocate(t *testing.T) {
	r := dns.NewResponder("ns1", "test")
	tracer := dns.NewTracer(1, 1000)
	r.Trace(tracer)
	w, s := r.Worker(), snapshot(t)
	packet, _ := question(t, "www.ok.test. A +edns=1232")
	req := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: noon}
	room := make([]byte, 0, 1232)
	for range 1000 { // every trace gets its room
		room = w.Respond(s, req, room[:0])
	}
	read(t, tracer)
	if n := testing.AllocsPerRun(100, func() { room = w.Respond(s, req, room[:0]) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
