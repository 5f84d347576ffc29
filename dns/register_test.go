package dns_test

import (
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"gslb/dns"
	"gslb/dns/steer"
)

// manyServices is a configuration of so many services with three places each.
func manyServices(n, weight int) string {
	var b, names strings.Builder
	fmt.Fprintf(&b, "datacenters: {a: {}, b: {}, c: {}}\nservices:\n")
	for i := range n {
		fmt.Fprintf(&b, "  s%d: {answer: all, at: {a: {addresses: [192.0.2.1], weight: %d}, b: [192.0.2.2], c: [192.0.2.3]}}\n", i, weight)
		fmt.Fprintf(&names, "      w%d: s%d\n", i, i)
	}
	return b.String() + "zones:\n  ok.test:\n    ns: [ns1]\n    records: \"ns1 A 192.0.2.53\"\n    services:\n" + names.String()
}

// The first answers under another configuration wait for no table that is as large as the configuration: neither for one
// to count in nor for the sum of what was counted before.
func TestFirstAnswerUnderAConfigurationMakesNoTables(t *testing.T) {
	const services = 4000
	responder := dns.NewResponder("ns1", "test")
	worker := responder.Worker()
	room := make([]byte, 0, 1232)
	ask := func(s *steer.Snapshot, i int) {
		packet, _ := question(t, fmt.Sprintf("w%d.ok.test. A", i))
		if reply := worker.Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: noon}, room); len(reply) == 0 || reply[3]&15 != 0 {
			t.Fatalf("w%d: % x", i, reply)
		}
	}
	for config := range 3 {
		s := snapshotWith(t, manyServices(services, config+1), func(in *steer.Inputs) { in.Config = uint64(config + 1) })
		responder.Counts.Expect(s.Policy(), s.Config())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ask(s, 1)
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; made > 32*services {
			t.Errorf("the first answer under configuration %d made %d octets", config+1, made)
		}
		for i := range services { // so that there is much to sum up
			ask(s, i)
		}
	}
	var first, beside uint64
	for g := range responder.Counts.Given() {
		first, beside = first+g.Answers, beside+g.Beside
	}
	if want := uint64(3 * (services + 1)); first != want || beside != 2*want {
		t.Errorf("%d answers and %d places beside are counted, want %d and twice that", first, beside, want)
	}
}
