package admin_test

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	miekg "github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"gslb/config"
	"gslb/dns"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/health"
	"gslb/test/rig"
)

func TestMetricsTellWhatStandsAndWhatWasDone(t *testing.T) {
	w := newWorld(t)
	r := dns.NewResponder("", "")
	w.deps.Counts = r.Counts
	question := new(miekg.Msg)
	question.SetQuestion("www.ok.test.", miekg.TypeAAAA)
	packet, err := question.Pack()
	if err != nil {
		t.Fatal(err)
	}
	r.Respond(w.deps.Snapshot(), dns.Request{Packet: packet, Source: netip.MustParseAddr("203.0.113.7"), Now: now}, nil)
	r.Respond(w.deps.Snapshot(), dns.Request{Packet: []byte("nonsense"), Source: netip.MustParseAddr("203.0.113.7"), Over: dns.TCP, Now: now}, nil)
	w.server.Config.Failures = 2
	transfer(t, r, w.deps.Snapshot())

	code, body := w.get("/metrics")
	if code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	for _, want := range []string{
		`gslb_build_info{goversion="[^"]+",version="1.0"} 1`,
		`gslb_ready 1`,
		`gslb_config_info{hash="[0-9a-f]{8}"} 1`,
		`gslb_config_current 1`,
		`gslb_reload_failures_total 2`,
		`gslb_dns_queries_total{transport="udp"} 1`,
		`gslb_dns_queries_total{transport="tcp"} 1`,
		`gslb_dns_queries_total{transport="tls"} 1`,
		`gslb_dns_transfers_total{outcome="sent",transport="tls",zone="ok.test."} 1`,
		`gslb_dns_dropped_total 1`,
		`gslb_dns_answers_total{rcode="NOERROR"} 2`,
		`gslb_steered_total{placed="geo",service="www"} 1`,
		`gslb_endpoint_up{endpoint="192.0.2.1",place="msk",service="www"} 0`,
		`gslb_endpoint_up{endpoint="2001:db8::1",place="msk",service="www"} 1`,
		`gslb_endpoint_failed_probes{endpoint="192.0.2.1",place="msk",service="www"} 3`,
		`gslb_place_serving{place="nsk",service="www"} 0`,
		`gslb_place_drained{place="nsk",service="www"} 1`,
		`gslb_endpoint_degraded{endpoint="2001:db8::1",place="msk",service="www"} 0`,
		`gslb_brake_on 0`,
		`gslb_check_gaps_total 3`,
		`gslb_check_results_discarded_total 5`,
		`gslb_checks_hindered 2`,
		`gslb_service_served{service="www"} 1`,
		`gslb_events_total{kind="drain"} 3`,
		`gslb_geo_info{database="table"} 1`,
		`gslb_place_answers_total{place="msk",placed="geo",service="www"} 1`,
		`gslb_dns_zone_answers_total{outcome="answered",zone="ok.test."} 1`,
		`gslb_endpoint_transitions_total{endpoint="192.0.2.1",place="msk",service="www"} 1`,
		`gslb_dns_receive_buffer_bytes{address="127.0.0.1:5353"} 425984`,
		`gslb_snapshot_builds_total 3`,
		`gslb_snapshot_version{input="config"} 42`,
		`gslb_objects{kind="endpoint"} 5`,
		`gslb_drains 1`,
		`gslb_state_saved 1`,
		`gslb_certificate_lifetime_seconds{door="tls"} 90`,
		`gslb_dnssec_signature_validity_seconds{zone="ok.test."} 86400`,
		`gslb_dnssec_keys_current{zone="ok.test."} 1`,
		`gslb_probes_in_flight 2`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(body) {
			t.Errorf("lacks %s", want)
		}
	}
	// What a client sent is no label.
	if strings.Contains(body, "203.0.113") || strings.Contains(body, "www.ok.test") {
		t.Error("a name or an address of a query is in the metrics")
	}
	for _, line := range strings.Split(body, "\n") {
		if name, ok := strings.CutPrefix(line, "# TYPE gslb_"); ok && strings.HasSuffix(name, " counter") != strings.Contains(name, "_total ") {
			t.Errorf("%s: counters, and only counters, end in _total", line)
		}
	}
}

// transfer asks for the whole of ok.test.
func transfer(t *testing.T, r *dns.Responder, s *steer.Snapshot) {
	t.Helper()
	packet, err := new(miekg.Msg).SetAxfr("ok.test.").Pack()
	if err != nil {
		t.Fatal(err)
	}
	messages := r.Transfer(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("203.0.113.7"), Over: dns.TLS, Now: now})
	if messages == nil {
		t.Fatal("no transfer")
	}
	for range messages {
	}
}

// secondary is a server that answers every notice, in a word.
func secondary(t *testing.T) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		var b [512]byte
		for {
			n, from, err := conn.ReadFrom(b[:])
			if err != nil {
				return
			}
			const response = 0x80
			b[2] |= response
			_, _ = conn.WriteTo(b[:n], from)
		}
	}()
	return netip.MustParseAddrPort(conn.LocalAddr().String())
}

// notify tells the secondaries of a snapshot's zones of them.
func notify(t *testing.T, r *dns.Responder, s *steer.Snapshot) {
	t.Helper()
	n := dns.NewNotifier(r, func() *steer.Snapshot { return s }, func() []netip.AddrPort { return nil }, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = n.Run(ctx) })
	n.Changed()
	rig.Until(t, rig.Soon, "1", func() string { return strconv.Itoa(len(maps.Collect(r.Counts.Notices()))) })
}

// full is a server of which every metric has something to tell.
func full(t *testing.T) *world {
	t.Helper()
	p := newPeering(t)
	p.announce(0, now, "203.0.113.0/24", "length=2")
	p.announce(0, now, "192.0.2.0/24")
	p.views[0].Refused = map[string]uint64{"attribute list": 1}
	checked := strings.NewReplacer("{www: {at:", "{www: {check: web, at:", "{ns: [", "{soa: {serial: 1}, transfer: {allow: [203.0.113.7/32], notify: ["+secondary(t).String()+"]}, ns: [").Replace(partnersText)
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(checked + `
checks: {web: {tcp: {port: 80}}}
drains: [{target: ekb, until: 2026-11-30T00:00:00Z}]
`)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	board := health.NewBoard()
	board.Apply(policy.Targets(), now)
	snapshot := steer.Build(steer.Inputs{
		Policy: policy, Config: 2, Health: board.Latest(), Routes: p.rib.Latest(), Geo: p.deps.Snapshot().Geo(), Now: now,
	}, nil)
	p.deps.Snapshot = func() *steer.Snapshot { return snapshot }
	p.deps.History = board.History
	r := dns.NewResponder("", "")
	p.deps.Counts = r.Counts
	for _, name := range []string{"www.ok.test.", "nope.ok.test.", "other."} {
		question := new(miekg.Msg)
		question.SetQuestion(name, miekg.TypeA)
		question.SetEdns0(1232, false)
		question.IsEdns0().Option = []miekg.EDNS0{&miekg.EDNS0_SUBNET{Code: miekg.EDNS0SUBNET, Family: 1, SourceNetmask: 24, Address: net.IPv4(203, 0, 113, 0)}}
		packet, err := question.Pack()
		if err != nil {
			t.Fatal(err)
		}
		r.Respond(snapshot, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.0.2.7"), Now: now}, nil)
	}
	transfer(t, r, snapshot)
	notify(t, r, snapshot)
	return p.world
}

// What is listed is what there is, so that dashboards and rules that are held against the list are good.
func TestEveryMetricIsTold(t *testing.T) {
	w := full(t)
	_, body := w.get("/metrics")
	told := map[string]bool{}
	for _, line := range strings.Split(body, "\n") {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			told[name] = true
		}
	}
	listed := map[string]bool{}
	for _, m := range admin.Metrics() {
		listed[m.Name] = true
		if !told[m.Name] {
			t.Errorf("%s is listed, and not told", m.Name)
		}
		want := "# TYPE " + m.Name + " " + string(m.Kind) + "\n"
		if told[m.Name] && !strings.Contains(body, want) {
			t.Errorf("%s is no %s", m.Name, m.Kind)
		}
	}
	for name := range told {
		if strings.HasPrefix(name, "gslb_") && !listed[name] {
			t.Errorf("%s is told, and not listed", name)
		}
	}
}

func TestMetricsKeepToTheConventions(t *testing.T) {
	_, body := full(t).get("/metrics")
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
