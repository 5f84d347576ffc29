package dns_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
)

// flood asks many times in one moment, and counts the whole replies, the cut ones and the silence. Every %d in the
// question is a number of its own.
func flood(t *testing.T, r *dns.Responder, rule, words, source string, times int, now time.Time) (whole, cut, silent int) {
	t.Helper()
	s := snapshotOf(t, strings.Replace(text, "server: {", "server: {rate_limit: "+rule+", ", 1))
	for i := range times {
		ask := words
		if strings.Contains(words, "%d") {
			ask = fmt.Sprintf(words, i)
		}
		packet, stream := question(t, ask)
		reply := r.Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr(source), Over: over(stream), Now: now, Seed: uint64(i)}, nil)
		m := new(mdns.Msg)
		switch {
		case len(reply) == 0:
			silent++
		case m.Unpack(reply) != nil:
			t.Fatalf("%x is no reply", reply)
		case m.Truncated && len(m.Answer)+len(m.Ns) == 0:
			cut++
		default:
			whole++
		}
	}
	return whole, cut, silent
}

func TestRepliesAreLimited(t *testing.T) {
	const ten = "{answers: 10, denials: 5, errors: 5}"
	for _, tc := range []struct {
		name, rule, ask    string
		whole, cut, silent int
	}{
		{"answers", ten, "www.ok.test. A", 10, 45, 45},
		{"names of a wildcard together", ten, "x%d.vid.ok.test. A", 10, 45, 45},
		{"names below a delegation together", ten, "x%d.child.ok.test. A", 10, 45, 45},
		{"names below a DNAME together", ten, "x%d.old.ok.test. A", 5, 47, 48},
		{"aliases of a wildcard together", ten, "x%d.alias2.ok.test. A", 10, 45, 45},
		{"types that a name lacks together", ten, "ns1.ok.test. TYPE6%d", 10, 45, 45},
		{"denials of a zone together", ten, "no%d.ok.test. A", 5, 47, 48},
		{"errors together", ten, "no%d.example. A", 5, 47, 48},
		{"over TCP never", ten, "www.ok.test. A +tcp", 100, 0, 0},
		{"no slip", "{answers: 10, slip: 0}", "www.ok.test. A", 10, 0, 90},
		{"all slip", "{answers: 10, slip: 1}", "www.ok.test. A", 10, 90, 0},
		{"without a bound", "{answers: 0}", "www.ok.test. A", 100, 0, 0},
		{"dry run", "{answers: 10, dry_run: true}", "www.ok.test. A", 100, 0, 0},
		{"an exempt network", "{answers: 10, exempt: [192.88.99.0/24]}", "www.ok.test. A", 100, 0, 0},
		{"client subnets one by one", ten, "cdn.ok.test. A +ecs=203.0.%d.0/24", 100, 0, 0},
		{"client subnets not without end", "{answers: 5, slip: 0}", "cdn.ok.test. A +ecs=203.0.%d.0/24", 50, 0, 50},
		{"client subnets together where they mean nothing", ten, "ns1.ok.test. A +ecs=203.0.%d.0/24", 10, 45, 45},
		{"by default", "{}", "www.ok.test. A", 100, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := dns.NewResponder("ns1", "test")
			whole, cut, silent := flood(t, r, tc.rule, tc.ask, "192.88.99.1", 100, noon)
			if whole != tc.whole || cut != tc.cut || silent != tc.silent {
				t.Errorf("%d whole, %d cut, %d silent; want %d, %d, %d", whole, cut, silent, tc.whole, tc.cut, tc.silent)
			}
			limited := map[string]uint64{}
			for word, n := range r.Counts.Limited() {
				limited[word] = n
			}
			if tc.name == "dry run" && limited["spared"] != 90 || limited["slipped"] != uint64(tc.cut) || limited["dropped"] != uint64(tc.silent) {
				t.Errorf("counted: %v", limited)
			}
		})
	}
}

// What is denied in one zone holds nothing back of another.
func TestDenialsAreLimitedByZone(t *testing.T) {
	const rule = "{denials: 10, slip: 0}"
	r := dns.NewResponder("ns1", "test")
	flood(t, r, rule, "no%d.ok.test. A", "192.88.99.1", 20, noon)
	for ask, want := range map[string]int{"nor%d.ok.test. A": 0, "no%d.sub.ok.test. A": 10} {
		if whole, _, _ := flood(t, r, rule, ask, "192.88.99.1", 20, noon); whole != want {
			t.Errorf("%s: %d replies, want %d", ask, whole, want)
		}
	}
}

func TestClientsOfOneBlockAreLimitedTogether(t *testing.T) {
	const rule = "{answers: 10, slip: 0}"
	for _, tc := range []struct {
		first, second string
		whole         int
	}{
		{"192.88.99.1", "192.88.99.200", 0}, {"192.88.99.1", "192.88.98.1", 10},
		{"2001:db9::1", "2001:db9:0:ff::1", 0}, {"2001:db9::1", "2001:db9:0:100::1", 10},
	} {
		r := dns.NewResponder("ns1", "test")
		flood(t, r, rule, "www.ok.test. A", tc.first, 20, noon)
		if whole, _, _ := flood(t, r, rule, "www.ok.test. A", tc.second, 20, noon); whole != tc.whole {
			t.Errorf("%s after %s: %d replies, want %d", tc.second, tc.first, whole, tc.whole)
		}
	}
}

func TestBucketsFillWithTime(t *testing.T) {
	r := dns.NewResponder("ns1", "test")
	now := noon
	for _, step := range []struct {
		pass  time.Duration
		whole int
	}{{0, 10}, {0, 0}, {100 * time.Millisecond, 1}, {350 * time.Millisecond, 3}, {time.Second, 10}, {time.Hour, 10}, {-time.Second, 0}} {
		now = now.Add(step.pass)
		if whole, _, _ := flood(t, r, "{answers: 10, slip: 0}", "www.ok.test. A", "192.88.99.1", 20, now); whole != step.whole {
			t.Errorf("%s later: %d replies, want %d", step.pass, whole, step.whole)
		}
	}
}

// A bucket that nobody looks at fills however long that is, also around the end of its clock.
func TestBucketsFillInSilence(t *testing.T) {
	for _, silence := range []time.Duration{time.Minute, time.Hour, 150 * time.Minute, 4 * time.Hour, 5 * time.Hour, 48 * time.Hour} {
		r := dns.NewResponder("ns1", "test")
		flood(t, r, "{answers: 10, slip: 0}", "www.ok.test. A", "192.88.99.1", 20, noon)
		for step := range 3 {
			later := noon.Add(silence + time.Duration(step)*time.Second)
			if whole, _, _ := flood(t, r, "{answers: 10, slip: 0}", "www.ok.test. A", "192.88.99.1", 20, later); whole != 10 {
				t.Errorf("%s and %d s later: %d replies, want 10", silence, step, whole)
			}
		}
	}
}

func TestNamesAreLimitedOneByOne(t *testing.T) {
	r := dns.NewResponder("ns1", "test")
	for _, ask := range []string{"ns1.ok.test. A", "ns1.ok.test. AAAA", "www.ok.test. A", "bind.ok.test. A", "alias.ok.test. A"} {
		if whole, _, _ := flood(t, r, "{answers: 10, slip: 0}", ask, "192.88.99.1", 20, noon); whole != 10 {
			t.Errorf("%s: %d replies, want 10", ask, whole)
		}
	}
}

func TestClientsWithOurCookieAreNotLimited(t *testing.T) {
	const rule = "{answers: 1, slip: 0}"
	r := dns.NewResponder("ns1", "test")
	packet, _ := question(t, "ns1.ok.test. A +cookie=2464c4abcf10c957")
	m := new(mdns.Msg)
	if err := m.Unpack(r.Respond(snapshot(t), dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: noon}, nil)); err != nil {
		t.Fatal(err)
	}
	cookie := m.IsEdns0().Option[0].(*mdns.EDNS0_COOKIE).Cookie
	for ask, want := range map[string]int{
		"www.ok.test. A +cookie=" + cookie:                        20,
		"www.ok.test. A +cookie=2464c4abcf10c957":                 1,
		"four.ok.test. A +cookie=" + cookie[:46] + "00":           1,
		"four.ok.test. A +cookie=" + cookie + " +edns=1232 +tcp":  20,
		"mail.ok.test. MX +cookie=2464c4abcf10c957" + cookie[:32]: 1,
	} {
		if whole, _, _ := flood(t, r, rule, ask, "192.88.99.1", 20, noon); whole != want {
			t.Errorf("%s: %d replies, want %d", ask, whole, want)
		}
	}
}

func TestLimitsDoNotAllocate(t *testing.T) {
	s := snapshotOf(t, strings.Replace(text, "server: {", "server: {rate_limit: {answers: 10}, ", 1))
	worker := dns.NewResponder("ns1", "test").Worker()
	packet, _ := question(t, "www.ok.test. A +ecs=203.0.113.0/24")
	req, room := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Now: noon}, make([]byte, 0, 1232)
	if n := testing.AllocsPerRun(100, func() { worker.Respond(s, req, room) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
