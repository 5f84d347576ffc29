package test

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// BenchmarkAnswersWhileRebuilding measures how long answers take over a real socket, while nothing happens and while a
// snapshot of many places, services and names is compiled and built anew without a pause. Both are measured in turns,
// since other programs on the machine disturb them alike; what counts is the best turn of each.
func BenchmarkAnswersWhileRebuilding(b *testing.B) {
	world, err := geo.Open(geo.Files{})
	if err != nil {
		b.Fatal(err)
	}
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(manyServices(1000, 10_000))})
	if err := problems.Err(); err != nil {
		b.Fatal(err)
	}
	build := func() *steer.Snapshot {
		policy, problems := steer.Compile(cfg)
		if err := problems.Err(); err != nil {
			b.Fatal(err)
		}
		return steer.Build(steer.Inputs{
			Policy: policy, Health: health.NewBoard().Latest(), Routes: bgp.NewTable(1, nil), Geo: world, Now: time.Now(),
		}, nil)
	}
	var latest atomic.Pointer[steer.Snapshot]
	latest.Store(build())
	server := dns.NewServer(dns.NewResponder("ns1", "test"), latest.Load, slog.New(slog.DiscardHandler))
	defer server.Close()
	if err := server.Listen(dns.Doors{Plain: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}}); err != nil {
		b.Fatal(err)
	}
	calm, busy := time.Hour, time.Hour
	builds := 0
	for b.Loop() {
		calm = min(calm, slowest(b, server.Addresses()[0]))
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					latest.Store(build())
					builds++
				}
			}
		}()
		busy = min(busy, slowest(b, server.Addresses()[0]))
		close(stop)
		<-done
	}
	b.ReportMetric(float64(calm.Microseconds()), "calm-p99-µs")
	b.ReportMetric(float64(busy.Microseconds()), "busy-p99-µs")
	b.ReportMetric(float64(builds)/float64(b.N), "builds/op")
}

// manyServices is a configuration with so many datacenters and services at three of them.
func manyServices(places, services int) string {
	var b strings.Builder
	b.WriteString("datacenters:\n")
	for i := range places {
		fmt.Fprintf(&b, "  p%d: {location: [%d.5, %d.25]}\n", i, i*7%140-70, i*13%350-170)
	}
	b.WriteString("services:\n")
	for i := range services {
		first := i % 100
		fmt.Fprintf(&b, "  s%d: {at: {p%d: [10.0.0.1], p%d: [10.0.0.2], p%d: [10.0.0.3]}}\n", i, first, first+300, first+600)
	}
	b.WriteString("zones:\n  ok.test:\n    ns: [ns.example.]\n    services:\n")
	for i := range services {
		fmt.Fprintf(&b, "      w%d: s%d\n", i, i)
	}
	return b.String()
}

// slowest asks 2,000 questions, one every half a millisecond, and gives the time that 99 of 100 answers take at most.
func slowest(b *testing.B, server netip.AddrPort) time.Duration {
	conn, err := net.Dial("udp", server.String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	const questions = 2000
	took := make([]time.Duration, 0, questions)
	reply := make([]byte, 1500)
	for i := range questions {
		m := new(mdns.Msg)
		m.SetQuestion(fmt.Sprintf("w%d.ok.test.", i*7%10_000), mdns.TypeA)
		packet, err := m.Pack()
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(500 * time.Microsecond)
		start := time.Now()
		_ = conn.SetDeadline(start.Add(2 * time.Second))
		if _, err := conn.Write(packet); err != nil {
			b.Fatal(err)
		}
		if _, err := conn.Read(reply); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
