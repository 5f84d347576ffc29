package admin_test

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"

	miekg "github.com/miekg/dns"

	"gslb/dns"
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
		`gslb_dns_dropped_total 1`,
		`gslb_dns_answers_total{rcode="NOERROR"} 1`,
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
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(body) {
			t.Errorf("lacks %s", want)
		}
	}
	// What a client sent is no label.
	if strings.Contains(body, "203.0.113") || strings.Contains(body, "ok.test") {
		t.Error("a name or an address of a query is in the metrics")
	}
	for _, line := range strings.Split(body, "\n") {
		if name, ok := strings.CutPrefix(line, "# TYPE gslb_"); ok && strings.HasSuffix(name, " counter") != strings.Contains(name, "_total ") {
			t.Errorf("%s: counters, and only counters, end in _total", line)
		}
	}
}
