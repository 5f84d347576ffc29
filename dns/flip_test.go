package dns_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns"
	"gslb/dns/publish"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// A verdict is in signed answers for all of 200 names of a service as fast as in unsigned ones: everything was signed
// before, so that nobody waits for a signature.
func TestVerdictIsInSignedAnswersAtOnce(t *testing.T) {
	const names = 200
	var services []string
	for i := range names {
		services = append(services, fmt.Sprintf("n%d: web", i))
	}
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(fmt.Sprintf(`
checks: {web: {tcp: {port: 80}}}
datacenters: {a: {}, b: {}, c: {}, d: {}}
services: {web: {check: web, steer: [datacenters], answer: all, at: {a: [192.0.2.1, 192.0.2.2], b: [192.0.2.3], c: [192.0.2.4], d: [192.0.2.5]}}}
zones: {ok.test: {ns: [ns.example.], dnssec: {keys: %q}, services: {%s}}}
`, t.TempDir(), strings.Join(services, ", ")))})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	board, signer, rib := health.NewBoard(), sign.NewSigner(slog.New(slog.DiscardHandler)), bgp.NewRIB()
	nowhere := geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {})
	p := publish.New(publish.Sources{
		Health: board.Latest, Routes: rib.Latest, Geo: func() *geo.Map { return nowhere }, Changed: []<-chan struct{}{board.Changed()}, Signed: signer.Latest,
	}, func([]steer.Event) {})
	signed, err := signer.Prepare(policy.Signed(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.Use(policy, 1, time.Now, func() { board.Apply(policy.Targets(), time.Now()); signer.Use(signed) })
	ctx, cancel := context.WithCancel(t.Context())
	var crew sync.WaitGroup
	crew.Go(func() { _ = p.Run(ctx) })
	crew.Go(func() { _ = publish.NewAhead(p).Run(ctx) })
	defer crew.Wait()
	defer cancel()
	all := uint64(names * len(p.Latest().Coming(0, 2)))
	signedAhead(t, signer, all)
	before := p.Latest()
	for _, target := range policy.Targets() {
		for range 20 {
			if target.Address.String() == "192.0.2.3" {
				board.Record(target.Key(), health.Result{Cause: "refused"}, time.Now())
			}
		}
	}
	begin := time.Now()
	for p.Latest() == before {
		time.Sleep(100 * time.Microsecond)
	}
	worker := dns.NewResponder("ns1", "test").Worker()
	for i := range names {
		packet, _ := question(t, fmt.Sprintf("n%d.ok.test. A +do", i))
		m := new(mdns.Msg)
		if err := m.Unpack(worker.Respond(p.Latest(), dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: time.Now()}, nil)); err != nil {
			t.Fatal(err)
		}
		if len(m.Answer) != 5 || strings.Contains(show(m), "192.0.2.3") {
			t.Fatal(show(m))
		}
	}
	t.Logf("%v from the verdict to signed answers for %d names; %d sets were signed ahead", time.Since(begin).Round(time.Microsecond), names, all)
	if n := signer.Counts.Asked.Load(); n > 0 {
		t.Errorf("%d signatures were made while somebody waited", n)
	}
	signedAhead(t, signer, all+names) // what can come after the verdict, and could not before
}

// signedAhead waits until so many sets were signed ahead.
func signedAhead(t *testing.T, signer *sign.Signer, sets uint64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); signer.Counts.Ahead.Load() < sets; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d sets were signed ahead", signer.Counts.Ahead.Load(), sets)
		}
	}
}
