package dns_test

import (
	"net/netip"
	"testing"
	"time"

	mdns "github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"gslb/dns"
)

// common are the questions that come all the time: none may cost an allocation.
var common = []struct{ name, ask string }{
	{"static", "ns1.ok.test. A +edns=1232"},
	{"service", "www.ok.test. A +edns=1232"},
	{"service by partner", "cdn.ok.test. A +ecs=203.0.113.0/24"},
	{"service by geography", "cdn.ok.test. A +ecs=198.18.0.0/24"},
	{"service in IPv6", "cdn.ok.test. A +ecs=2001:db8::/56"},
	{"wildcard", "a.vid.ok.test. A +edns=1232"},
	{"NODATA", "cdn.ok.test. AAAA +edns=1232"},
	{"NXDOMAIN", "nope.ok.test. A +edns=1232"},
	{"referral", "www.child.ok.test. A +edns=1232"},
	{"alias", "deep.ok.test. A +edns=1232"},
	{"mail", "mail.ok.test. MX +edns=1232"},
	{"DO and NSID", "www.ok.test. A +do +nsid"},
	{"cookie", "www.ok.test. A +cookie=2464c4abcf10c957"},
	{"too long", "big.ok.test. TXT +edns=1232"},
	{"refused", "example. A +edns=1232"},
}

func TestCommonQuestionsDoNotAllocate(t *testing.T) {
	s := snapshot(t)
	worker := dns.NewResponder("ns1", "test").Worker()
	room := make([]byte, 0, 1232)
	for _, tc := range common {
		t.Run(tc.name, func(t *testing.T) {
			packet, stream := question(t, tc.ask)
			req := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over(stream), Now: noon}
			if n := testing.AllocsPerRun(100, func() { room = worker.Respond(s, req, room[:0]) }); n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// processorTime is what this process has used: on a shared machine it says more than the clock.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

func BenchmarkRespond(b *testing.B) {
	s := snapshot(b)
	worker := dns.NewResponder("ns1", "test").Worker()
	room := make([]byte, 0, 1232)
	for _, tc := range common {
		b.Run(tc.name, func(b *testing.B) {
			packet, stream := question(b, tc.ask)
			req := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over(stream), Now: noon}
			b.ReportAllocs()
			before := processorTime(b)
			for b.Loop() {
				room = worker.Respond(s, req, room[:0])
			}
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkLibrary packs the same replies by the library, which compresses by looking every name up: what the
// writer saves. The records are there already.
func BenchmarkLibrary(b *testing.B) {
	s := snapshot(b)
	worker := dns.NewResponder("ns1", "test").Worker()
	for _, tc := range common {
		b.Run(tc.name, func(b *testing.B) {
			packet, stream := question(b, tc.ask)
			m := new(mdns.Msg)
			if err := m.Unpack(worker.Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over(stream), Now: noon}, nil)); err != nil {
				b.Fatal(err)
			}
			m.Compress = true
			room := make([]byte, 1232)
			b.ReportAllocs()
			begin := processorTime(b)
			for b.Loop() {
				if _, err := m.PackBuffer(room); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processorTime(b)-begin)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkRespondSigned answers the same questions for clients that want signatures, of a zone that is not signed and of one
// that is.
func BenchmarkRespondSigned(b *testing.B) {
	for _, tc := range common {
		for _, denial := range append([]string{""}, denialWords[:2]...) {
			s := snapshot(b)
			name := tc.name + "/unsigned"
			if denial != "" {
				s, name = signed(b, denial).s, tc.name+"/"+denial
			}
			worker := dns.NewResponder("ns1", "test").Worker()
			room := make([]byte, 0, 1232)
			b.Run(name, func(b *testing.B) {
				packet, stream := question(b, tc.ask+" +do")
				req := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over(stream), Now: noon}
				b.ReportAllocs()
				before := processorTime(b)
				for b.Loop() {
					room = worker.Respond(s, req, room[:0])
				}
				b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
