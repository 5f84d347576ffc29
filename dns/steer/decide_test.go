package steer_test

import (
	"slices"
	"strings"
	"testing"

	"gslb/dns/steer"
)

// cdn is the world of most tests: three datacenters, two sites, a partner at one of them.
const cdn = `
checks:
  web: {http: {path: /ping}, interval: 10s}
datacenters:
  msk-1: {location: [55.75, 37.62]}
  msk-2: {location: [55.80, 37.50]}
  fra:   {location: [50.11, 8.68]}
sites:
  nsk: {location: [55.03, 82.92], partners_only: true}
  spb: {location: [59.94, 30.31]}
partners:
  sibtel: {site: nsk, networks: [203.0.113.0/24, 203.0.112.0/20]}
  neva:   {site: spb, networks: [203.0.113.128/25, 203.0.96.0/19]}
services:
  video:
    check: web
    at:
      nsk:   [198.51.100.1, 198.51.100.2]
      spb:   [198.51.100.17]
      msk-1: [192.0.2.11, "2001:db8:1::11"]
      fra:   [192.0.2.31, "2001:db8:3::31"]
  portal:
    check: web
    steer: [datacenters]
    answer: all
    ttl: 300
    at:
      msk-1: [192.0.2.1, "2001:db8:1::1"]
      msk-2: [192.0.2.2]
      fra:   [192.0.2.3]
zones:
  ok.test:
    ns: [ns1]
    records: |
      ns1 A 192.0.2.53
    services: {www: portal, video: video}
drains: []
`

func TestStagesPlaceClients(t *testing.T) {
	down := func(addresses ...string) func(*world) {
		return func(w *world) {
			for _, a := range addresses {
				w.check(a, strings.Repeat("-", 10))
			}
		}
	}
	for _, tc := range []struct {
		name    string
		service string
		client  string
		change  func(*world)
		want    string // with "|": either
		placed  string
	}{
		{"partner before geography", "video", "203.0.113.7", nil, "198.51.100.1 198.51.100.2", "partners"},
		{"longest prefix first", "video", "203.0.113.200", nil, "198.51.100.17", "partners"},
		{"then the prefixes around it", "video", "203.0.113.200", down("198.51.100.17"), "198.51.100.1 198.51.100.2", "partners"},
		{"one server of a site is enough", "video", "203.0.113.7", down("198.51.100.1"), "198.51.100.2", "partners"},
		{"a dead site falls to the next partner", "video", "203.0.113.7", down("198.51.100.1", "198.51.100.2"), "198.51.100.17", "partners"},
		{"when no partner's site is left, to the next stage", "video", "203.0.113.7", down("198.51.100.1", "198.51.100.2", "198.51.100.17"),
			"192.0.2.11|192.0.2.31", "datacenters"},
		{"nearest by distance", "video", "198.18.0.1", nil, "192.0.2.31", "geo"},
		{"the next nearest", "video", "198.18.0.1", down("192.0.2.31"), "198.51.100.17", "geo"},
		{"geography never picks a partners' site", "video", "198.19.200.1", nil, "192.0.2.11", "geo"},
		{"no location skips distance", "portal", "192.88.98.1", nil, "192.0.2.1 192.0.2.2 192.0.2.3", "datacenters"},
		{"all of the tier", "portal", "8.8.8.8", down("192.0.2.2"), "192.0.2.1 192.0.2.3", "datacenters"},
		{"the rest comes last", "video", "192.88.98.1", down("192.0.2.11", "192.0.2.31", "2001:db8:1::11", "2001:db8:3::31"), "198.51.100.17", "rest"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, cdn)
			if tc.change != nil {
				tc.change(w)
			}
			d, got := w.ask(tc.service, tc.client, steer.IPv4, 1)
			if !slices.Contains(strings.Split(tc.want, "|"), got) || d.Placed.String() != tc.placed {
				t.Errorf("%s from %s: got %q placed by %s, want %q by %s", tc.service, tc.client, got, d.Placed, tc.want, tc.placed)
			}
		})
	}
}

func TestFamilies(t *testing.T) {
	const (
		fail = "----------"
		v4   = "192.0.2.31"
		v6   = "2001:db8:3::31"
	)
	for _, tc := range []struct {
		name    string
		client  string
		failing []string
		a, aaaa string
	}{
		{"both", "198.18.0.1", nil, v4, v6},
		{"AAAA is no data when IPv6 of the winning tier is dead", "198.18.0.1", []string{v6}, v4, ""},
		{"A goes on to the next tier that has IPv4", "198.18.0.1", []string{v4}, "198.51.100.17", v6},
		{"a farther place does not win because it speaks IPv6", "203.0.113.200", nil, "198.51.100.17", ""},
		{"both families go on when the place is dead", "198.18.0.1", []string{v4, v6}, "198.51.100.17", ""},
		{"all down: the first place in both families, dead or not", "198.18.0.1",
			[]string{v4, v6, "198.51.100.17", "192.0.2.11", "2001:db8:1::11"}, v4, v6},
		{"IPv6 that is healthy is given while IPv4 is all down", "198.18.0.1",
			[]string{v4, "198.51.100.17", "192.0.2.11", "2001:db8:1::11"}, v4, v6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, cdn)
			for _, address := range tc.failing {
				w.check(address, fail)
			}
			_, a := w.ask("video", tc.client, steer.IPv4, 1)
			_, aaaa := w.ask("video", tc.client, steer.IPv6, 1)
			if a != tc.a || aaaa != tc.aaaa {
				t.Errorf("got A %q, AAAA %q; want A %q, AAAA %q", a, aaaa, tc.a, tc.aaaa)
			}
		})
	}
}

func TestNobodyServing(t *testing.T) {
	const drains, allDown = "drains: []", "services:\n  video:\n"
	dead := func(w *world) {
		for _, a := range []string{"192.0.2.1", "2001:db8:1::1", "192.0.2.2", "192.0.2.3"} {
			w.check(a, strings.Repeat("-", 10))
		}
	}
	for _, tc := range []struct {
		name     string
		allDown  string
		drains   string
		dead     bool
		want     string
		servfail bool
		placed   string
		ttl      uint32
	}{
		{"serve answers as if all were up", "serve", "[]", true, "192.0.2.1 192.0.2.2 192.0.2.3", false, "all_down", 150},
		{"serve leaves out the drained", "serve", "[{target: fra}]", true, "192.0.2.1 192.0.2.2", false, "all_down", 150},
		{"nodata", "nodata", "[]", true, "", false, "all_down", 150},
		{"servfail", "servfail", "[]", true, "", true, "all_down", 150},
		{"fixed addresses", `["198.18.1.1", "2001:db8::1"]`, "[]", true, "198.18.1.1", false, "all_down", 150},
		{"a healthy drained place is given before a dead one", "nodata", "[{target: fra}, {target: msk-1}, {target: msk-2}]", false,
			"192.0.2.1 192.0.2.2 192.0.2.3", false, "datacenters", 300},
		{"unless it is drained hard", "nodata", "[{target: fra, hard: true}, {target: msk-1, hard: true}, {target: msk-2}]", false,
			"192.0.2.2", false, "datacenters", 300},
		{"everything drained hard is no data", "serve", "[{target: fra, hard: true}, {target: msk-1, hard: true}, {target: msk-2, hard: true}]", false,
			"", false, "all_down", 150},
		{"everything drained and dead is still given", "serve", "[{target: fra}, {target: msk-1}, {target: msk-2}]", true,
			"192.0.2.1 192.0.2.2 192.0.2.3", false, "all_down", 150},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(cdn, "    steer: [datacenters]\n", "    steer: [datacenters]\n    all_down: "+tc.allDown+"\n", 1)
			w := newWorld(t, strings.Replace(text, drains, "drains: "+tc.drains, 1))
			if tc.dead {
				dead(w)
			}
			d, got := w.ask("portal", "8.8.8.8", steer.IPv4, 1)
			if got != tc.want || d.Servfail != tc.servfail || d.Placed.String() != tc.placed || d.TTL != tc.ttl {
				t.Errorf("got %q servfail=%v placed=%s ttl=%d, want %q servfail=%v placed=%s ttl=%d",
					got, d.Servfail, d.Placed, d.TTL, tc.want, tc.servfail, tc.placed, tc.ttl)
			}
		})
	}
}

func TestServiceThatOnlyPartnersGetIsNoDataForOthers(t *testing.T) {
	text := strings.Replace(cdn, "services:\n  video:", "services:\n  cache:\n    at: {nsk: [198.51.100.9]}\n  video:", 1)
	w := newWorld(t, text)
	if d, got := w.ask("cache", "8.8.8.8", steer.IPv4, 1); got != "" || d.Placed != steer.PlacedNowhere || d.TTL != 60 {
		t.Errorf("outsider: got %q placed=%s ttl=%d, want no data, nowhere, 60", got, d.Placed, d.TTL)
	}
	if d, got := w.ask("cache", "203.0.113.7", steer.IPv4, 1); got != "198.51.100.9" {
		t.Errorf("partner's client: got %q placed=%s, want 198.51.100.9", got, d.Placed)
	}
}

func TestTTLFollowsTheWindows(t *testing.T) {
	const up, down = "++++++++++++++++++++", "----------"
	for _, tc := range []struct {
		name    string
		results map[string]string
		client  string
		want    uint32
	}{
		{"clean windows", nil, "198.18.0.1", 60},
		{"one failure of a place that is given: nine more to fall", map[string]string{"192.0.2.31": "-"}, "198.18.0.1", 60},
		{"six failures: four more", map[string]string{"192.0.2.31": "------"}, "198.18.0.1", 40},
		{"nine failures: one more, and no less than ttl_min", map[string]string{"192.0.2.31": "---------"}, "198.18.0.1", 30},
		{"failures of a place that is not given do not matter", map[string]string{"192.0.2.11": "------"}, "198.18.0.1", 60},
		{"a better place that is coming back", map[string]string{"192.0.2.31": down + up[:16], "2001:db8:3::31": down}, "198.18.0.1", 40},
		{"a better place that is dead for good", map[string]string{"192.0.2.31": down, "2001:db8:3::31": down}, "198.18.0.1", 60},
		{"a worse place that is coming back does not matter", map[string]string{"192.0.2.11": down + up[:16]}, "198.18.0.1", 60},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, cdn)
			for address, results := range tc.results {
				w.check(address, results)
			}
			if d, got := w.ask("video", tc.client, steer.IPv4, 1); d.TTL != tc.want {
				t.Errorf("got ttl %d with %s, want %d", d.TTL, got, tc.want)
			}
		})
	}
}

func TestTTLEndsWhenAnEqualMayComeBack(t *testing.T) {
	w := newWorld(t, strings.Replace(cdn, "    ttl: 300\n", "    ttl: 300\n    ttl_min: 10\n", 1))
	w.check("192.0.2.2", "----------"+strings.Repeat("+", 16))
	if d, got := w.ask("portal", "8.8.8.8", steer.IPv4, 1); d.TTL != 40 {
		t.Errorf("got ttl %d with %s, want 40: the third may be back after four successes", d.TTL, got)
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	w := newWorld(t, cdn)
	s := w.snapshot()
	q := steer.Query{Client: s.Client(mustAddr("203.0.113.200"), steer.Subnet{}), Seed: 42}
	if n := testing.AllocsPerRun(100, func() { sink = steer.Decide(s, q) }); n != 0 {
		t.Errorf("Decide allocated %v times", n)
	}
}

var sink steer.Decision
