package traffic_test

import (
	stdcmp "cmp"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/dns/traffic"
)

// everywhere is clients all over the world of most tests.
func everywhere() []traffic.Crowd {
	var all []traffic.Crowd
	for i := range 512 {
		all = append(all, traffic.Crowd{Address: netip.AddrFrom4([4]byte{198, 18 + byte(i&1), byte(i), 1}), Weight: 1 + float64(i%3)})
	}
	return all
}

func TestLosingOneOfEqualsLoadsTheOthers(t *testing.T) {
	for n := 2; n <= 6; n++ {
		var at []string
		text := "datacenters: {"
		for i := range n {
			text += fmt.Sprintf("p%d: {}, ", i)
			at = append(at, fmt.Sprintf("p%d: [192.0.2.%d]", i, i+1))
		}
		text += "}\nservices: {www: {steer: [datacenters], at: {" + strings.Join(at, ", ") + "}}}\n"
		losses := traffic.Losses(sunny(t, text), map[string]float64{"www": 1}, everywhere())
		if len(losses) != n+1 {
			t.Fatalf("%d losses of %d places", len(losses), n)
		}
		for _, l := range losses[1:] {
			for _, c := range l.Carried {
				if want := 1 / float64(n) * float64(n) / float64(n-1); math.Abs(c.Amount-want) > 1e-9 {
					t.Errorf("of %d, without %s: %s carries %g, want %g", n, l.Place, c.Place, c.Amount, want)
				}
			}
		}
	}
}

func TestLossFollowsTheTiers(t *testing.T) {
	const text = `
datacenters: {near: {}, far: {}, spare: {}}
sites: {cdn: {partners_only: true}}
partners: {sibtel: {site: cdn, networks: [198.18.0.0/16]}}
maps: {ladder: [{to: [near, far]}]}
services:
  video: {steer: [partners, geo], map: ladder, at: {cdn: [192.0.2.4], near: [192.0.2.1], far: [192.0.2.2]}}
  mail: {steer: [datacenters], at: {far: [192.0.2.2], spare: [192.0.2.3]}}
  free: {at: {near: [192.0.2.1]}}
  six: {at: {near: ["2001:db8::1"]}}
drains: [{target: spare, service: mail}]
`
	clients := []traffic.Crowd{{Address: mustAddr("198.18.0.1"), Weight: 30}, {Address: mustAddr("8.8.8.8"), Weight: 60}, {Address: mustAddr("::ffff:8.8.8.9"), Weight: 10}}
	var got []string
	for _, l := range traffic.Losses(sunny(t, text), map[string]float64{"video": 1000, "mail": 100, "six": 7}, clients) {
		got = append(got, fmt.Sprintf("%s%v %v", l.Place, l.Carried, l.Unserved))
	}
	want := []string{
		"[{near 707} {far 100} {cdn 300}] 0",
		"near[{far 800} {cdn 300}] 7",
		"far[{near 707} {spare 100} {cdn 300}] 0", // drained places are given before nobody is
		"spare[{near 707} {far 100} {cdn 300}] 0",
		"cdn[{near 1007} {far 100}] 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

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
  sibtel: {site: nsk, networks: [198.19.128.0/17, 203.0.112.0/20]}
  neva:   {site: spb, networks: [203.0.113.128/25, 203.0.96.0/19]}
services:
  video: {check: web, at: {nsk: [198.51.100.1], spb: [198.51.100.17], msk-1: [192.0.2.11], fra: [192.0.2.31, "2001:db8:3::31"]}}
  portal: {check: web, steer: [datacenters], answer: all, at: {msk-1: [192.0.2.1, "2001:db8:1::1"], msk-2: [192.0.2.2], fra: [192.0.2.3]}}
zones:
  ok.test: {ns: [ns.example.], services: {www: portal, video: video}}
drains: []
`

// A lost place is what a hard drain in the configuration would make of it.
func TestLossIsAHardDrain(t *testing.T) {
	demand := map[string]float64{"video": 3, "portal": 2}
	losses := traffic.Losses(sunny(t, cdn), demand, everywhere())
	if len(losses) < 4 {
		t.Fatalf("only %d losses", len(losses))
	}
	for _, l := range losses[1:] {
		drained := strings.Replace(cdn, "drains: []", "drains: [{target: "+l.Place+", hard: true}]", 1)
		want := traffic.Losses(sunny(t, drained), demand, everywhere())[0]
		want.Place = l.Place
		if diff := cmp.Diff(want, l); diff != "" {
			t.Errorf("without %s (-drained +lost):\n%s", l.Place, diff)
		}
	}
}

// What every place carries, worked out by hand: the demand of s is 100, that of t 60.
func TestLossesByHand(t *testing.T) {
	clients := []traffic.Crowd{{Address: mustAddr("198.18.0.1"), Weight: 50}, {Address: mustAddr("8.8.8.8"), Weight: 50}}
	for _, tc := range []struct{ name, text, want string }{
		{"weights", "services: {s: {steer: [datacenters], at: {a: {addresses: [192.0.2.1], weight: 200}, b: [192.0.2.2], c: [192.0.2.3]}}}",
			"none a=50 b=25 c=25; a b=50 c=50; b a=66.7 c=33.3; c a=66.7 b=33.3"},
		{"all, by their addresses", "services: {s: {steer: [datacenters], answer: all, at: {a: [192.0.2.1], b: [192.0.2.2, 192.0.2.3, 192.0.2.4]}}}",
			"none a=25 b=75; a b=100; b a=100"},
		{"two of three equals", "services: {s: {steer: [datacenters], answer: 2, at: {a: [192.0.2.1], b: [192.0.2.2], c: [192.0.2.3]}}}",
			"none a=33.3 b=33.3 c=33.3; a b=50 c=50; b a=50 c=50; c a=50 b=50"},
		// ab and ac come with 0.45 each, bc with 0.1: a = 0.45/2 + 0.45/2, b = 0.45/2 + 0.1/2.
		{"two of three by weight", "services: {s: {steer: [datacenters], answer: 2, at: {a: {addresses: [192.0.2.1], weight: 300}, b: [192.0.2.2], c: [192.0.2.3]}}}",
			"none a=45 b=27.5 c=27.5; a b=50 c=50; b a=50 c=50; c a=50 b=50"},
		{"a weight of 0 waits for the last", "services: {s: {steer: [datacenters], answer: 2, at: {a: [192.0.2.1], b: [192.0.2.2], c: {addresses: [192.0.2.3], weight: 0}}}}",
			"none a=50 b=50; a b=100; b a=100; c a=50 b=50"},
		{"a map", "maps: {m: [{networks: [198.18.0.0/16], to: [a, c]}, {to: [[b, c], a]}]}\nservices: {s: {steer: [geo], map: m, at: {a: [192.0.2.1], b: [192.0.2.2], c: [192.0.2.3]}}}",
			"none a=50 b=25 c=25; a b=25 c=75; b a=50 c=50; c a=50 b=50"},
		{"two services", "services:\n  s: {steer: [datacenters], at: {a: [192.0.2.1], b: [192.0.2.2]}}\n  t: {steer: [datacenters], at: {b: [192.0.2.2], c: [192.0.2.3]}}",
			"none a=50 b=80 c=30; a b=130 c=30; b a=100 c=60; c a=50 b=110"},
		{"a partner's place, and one inside it", "partners: {p: {site: x, networks: [198.18.0.0/15]}, q: {site: y, networks: [198.18.0.0/24]}}\nservices: {s: {steer: [partners, datacenters], at: {a: [192.0.2.1], x: [192.0.2.8], y: [192.0.2.9]}}}",
			"none a=50 y=50; a y=50 nobody=50; x a=50 y=50; y a=50 x=50"},
		{"the only place", "services: {s: {all_down: nodata, at: {a: [192.0.2.1]}}}", "none a=100; a nobody=100"},
		{"IPv6 is no help", "services: {s: {steer: [datacenters], at: {a: [192.0.2.1], b: ['2001:db8::1']}}}",
			"none a=100; a nobody=100; b a=100"},
		{"a drained place helps at last", "services: {s: {steer: [datacenters], at: {a: [192.0.2.1], b: [192.0.2.2]}}}\ndrains: [{target: b}]",
			"none a=100; a b=100; b a=100"},
		{"one drained hard does not", "services: {s: {steer: [datacenters], at: {a: [192.0.2.1], b: [192.0.2.2]}}}\ndrains: [{target: b, hard: true}]",
			"none a=100; a nobody=100; b a=100"},
		{"one down by hand does not", "services: {s: {steer: [datacenters], all_down: nodata, at: {a: [192.0.2.1], b: [{address: 192.0.2.2, state: down}]}}}",
			"none a=100; a nobody=100; b a=100"},
		{"names", "services: {s: {steer: [datacenters], at: {a: {cname: a.example.}, b: {cname: b.example., weight: 300}}}}",
			"none a=25 b=75; a b=100; b a=100"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "datacenters: {a: {}, b: {}, c: {}}\nsites: {x: {partners_only: true}, y: {partners_only: true}}\n" + tc.text + "\n"
			var got []string
			for _, l := range traffic.Losses(sunny(t, text), map[string]float64{"s": 100, "t": 60}, clients) {
				row := stdcmp.Or(l.Place, "none")
				for _, c := range l.Carried {
					row += fmt.Sprintf(" %s=%.3g", c.Place, c.Amount)
				}
				if l.Unserved > 0 {
					row += fmt.Sprintf(" nobody=%.3g", l.Unserved)
				}
				got = append(got, row)
			}
			if got := strings.Join(got, "; "); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
