package steer_test

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/dns/steer"
)

// everywhere is clients all over the world of most tests.
func everywhere() []steer.Crowd {
	var all []steer.Crowd
	for i := range 512 {
		all = append(all, steer.Crowd{Address: netip.AddrFrom4([4]byte{198, 18 + byte(i&1), byte(i), 1}), Weight: 1 + float64(i%3)})
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
		losses := steer.Losses(newWorld(t, text).snapshot(), map[string]float64{"www": 1}, everywhere())
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
	clients := []steer.Crowd{{Address: mustAddr("198.18.0.1"), Weight: 30}, {Address: mustAddr("8.8.8.8"), Weight: 60}, {Address: mustAddr("::ffff:8.8.8.9"), Weight: 10}}
	var got []string
	for _, l := range steer.Losses(newWorld(t, text).snapshot(), map[string]float64{"video": 1000, "mail": 100, "six": 7}, clients) {
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

// A lost place is what a hard drain in the configuration would make of it.
func TestLossIsAHardDrain(t *testing.T) {
	demand := map[string]float64{"video": 3, "portal": 2}
	losses := steer.Losses(newWorld(t, cdn).snapshot(), demand, everywhere())
	if len(losses) < 4 {
		t.Fatalf("only %d losses", len(losses))
	}
	for _, l := range losses[1:] {
		drained := strings.Replace(cdn, "drains: []", "drains: [{target: "+l.Place+", hard: true}]", 1)
		want := steer.Losses(newWorld(t, drained).snapshot(), demand, everywhere())[0]
		want.Place = l.Place
		if diff := cmp.Diff(want, l); diff != "" {
			t.Errorf("without %s (-drained +lost):\n%s", l.Place, diff)
		}
	}
}
