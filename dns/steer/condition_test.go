package steer_test

import (
	"strings"
	"testing"

	"gslb/dns/steer"
)

// recordCheck gives the results of one check of an endpoint.
func (w *world) recordCheck(address, check, results string) {
	w.t.Helper()
	for _, target := range w.policy.Targets() {
		if target.Address.String() == address && target.Name == check {
			w.record(target, results)
			return
		}
	}
	w.t.Fatalf("no check %s probes %s", check, address)
}

// An endpoint of several checks that is out comes back with the last of them, and nothing points to that while one of
// them goes on failing.
func TestEndpointComesBackWithTheLastOfItsChecks(t *testing.T) {
	const down = "----------"
	for _, tc := range []struct {
		name      string
		web, deep string
		next      float64 // seconds
		worst     string  // the check that is told of
	}{
		{"one is coming back, the other fails on", down + strings.Repeat("+", 16), down, 0, "web"},
		{"the other way round", down, down + strings.Repeat("+", 16), 0, "web"},
		{"the second is later", down + strings.Repeat("+", 16), down + strings.Repeat("+", 12), 80, "web"},
		{"the first is later", down + strings.Repeat("+", 12), down + strings.Repeat("+", 16), 80, "web"},
		{"only one is out", "", down + strings.Repeat("+", 15), 50, "deep"},
		{"neither is out, and one is on its way", "------", "", 40, "web"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, `
checks: {web: {tcp: {port: 80}, interval: 10s}, deep: {tcp: {port: 81}, interval: 10s}}
datacenters: {a: {}, b: {}}
services: {shop: {check: [web, deep], steer: [datacenters], at: {a: [192.0.2.1], b: [192.0.2.2]}}}
`)
			w.recordCheck("192.0.2.1", "web", tc.web)
			w.recordCheck("192.0.2.1", "deep", tc.deep)
			view := w.snapshot().View(0, w.now).Places[0].Endpoints[0]
			if view.Next != tc.next || view.Check != tc.worst {
				t.Errorf("the verdict of %s could turn in %v s, want %s in %v s", view.Check, view.Next, tc.worst, tc.next)
			}
		})
	}
}

// A place whose only address to check is of one family stands or falls by it for the other, too.
func TestUplinkOfOneFamilyCountsForBoth(t *testing.T) {
	w := newWorld(t, `
checks: {up: {tcp: {port: 179}}}
datacenters: {a: {check: up, address: 198.51.100.1}, b: {}}
services: {shop: {answer: all, steer: [datacenters], at: {a: [192.0.2.1, "2001:db8::1"], b: [192.0.2.2, "2001:db8::2"]}}}
`)
	w.check("198.51.100.1", "----------")
	for family, want := range map[steer.Family]string{steer.IPv4: "192.0.2.2", steer.IPv6: "2001:db8::2"} {
		if _, got := w.ask("shop", "8.8.8.8", family, 1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// What happens to a check of a place as a whole is told by the address that it probes, and not by those of endpoints.
func TestEventsOfAPlaceAsAWholeAreOfItsServices(t *testing.T) {
	s := newWorld(t, `
checks: {web: {tcp: {port: 80}}, up: {tcp: {port: 179}}}
datacenters: {a: {check: up, address: 198.51.100.1}, b: {}}
services:
  shop: {check: web, steer: [datacenters], at: {a: [192.0.2.1], b: [192.0.2.2]}}
  else: {steer: [datacenters], at: {b: [192.0.2.3]}}
`).snapshot()
	for _, tc := range []struct {
		at   steer.Scene
		want bool
	}{
		{steer.Scene{Place: "a"}, true},
		{steer.Scene{Place: "a", Endpoint: "192.0.2.1"}, true},
		{steer.Scene{Place: "a", Endpoint: "192.0.2.1", Check: "web"}, true},
		{steer.Scene{Place: "a", Endpoint: "192.0.2.1", Check: "up"}, false},
		{steer.Scene{Place: "a", Endpoint: "198.51.100.1", Check: "up"}, true},
		{steer.Scene{Place: "a", Endpoint: "198.51.100.1"}, true},
		{steer.Scene{Place: "a", Endpoint: "198.51.100.1", Check: "web"}, false},
		{steer.Scene{Place: "b", Endpoint: "192.0.2.1"}, false},
	} {
		if got := s.Concerns("shop", tc.at); got != tc.want {
			t.Errorf("%+v is of the shop: %t, want %t", tc.at, got, tc.want)
		}
		if s.Concerns("else", tc.at) {
			t.Errorf("%+v is taken for another service's", tc.at)
		}
	}
}

// Of the drains of a place reasons name the one that ends last, in whichever order they stand.
func TestDrainThatEndsLastIsNamed(t *testing.T) {
	const soon, later, never = "{target: a, until: 2026-11-29T13:00:00Z, reason: soon}", "{target: a, until: 2026-11-29T14:00:00Z, reason: later}", "{target: a, reason: never}"
	for _, tc := range []struct{ drains, want string }{
		{soon + ", " + later, "later"}, {later + ", " + soon, "later"}, {soon + ", " + never, "never"}, {never + ", " + soon, "never"},
	} {
		w := newWorld(t, shop("weighted", "1", 100, 100)+"drains: ["+tc.drains+"]\n")
		if got := w.snapshot().View(0, w.now).Places[0].Drain.Reason; got != tc.want {
			t.Errorf("drains %s: %q is named, want %q", tc.drains, got, tc.want)
		}
	}
}

// An answer has no more names than the service allows, and each of them is the first equally often.
func TestHostsStayWithinTheBound(t *testing.T) {
	s := newWorld(t, `
datacenters: {a: {}, b: {}, c: {}}
services:
  sip:
    steer: [datacenters]
    answer: all
    max_addresses: 2
    at: {a: {srv: {target: a.example., port: 1}}, b: {srv: {target: b.example., port: 1}}, c: {srv: {target: c.example., port: 1}}}
`).snapshot()
	first := map[string]int{}
	for seed := range uint64(300) {
		d := steer.Decide(s, steer.Query{Client: s.Client(mustAddr("198.18.0.1"), steer.Subnet{}), Seed: seed << 32})
		hosts := d.Hosts(s, 0, nil)
		if len(hosts) != 2 {
			t.Fatalf("%d hosts, want 2", len(hosts))
		}
		first[hosts[0].String()]++
	}
	for name, n := range first {
		if n != 100 {
			t.Errorf("%s came first %d times of 300", name, n)
		}
	}
}
