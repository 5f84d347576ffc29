package steer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/config"
	"gslb/dns/steer"
)

// decisions writes down what some clients are answered, service by service.
func decisions(t *testing.T, s *steer.Snapshot) string {
	var b strings.Builder
	for _, svc := range s.Policy().Services() {
		for _, client := range []string{"198.18.0.1", "198.19.0.1", "198.19.128.1", "203.0.113.7", "11.0.0.1", "2001:db8::1"} {
			for f, word := range []string{"A", "AAAA"} {
				d, addresses := decide(t, s, svc.Name(), client, steer.Family(f), 1)
				fmt.Fprintf(&b, "%s %s %s: %s by %s, TTL %d, scope %d\n", svc.Name(), client, word, addresses, d.Placed, d.TTL, d.Span)
			}
		}
	}
	return b.String()
}

// A snapshot with a drain is the one that is built when the drain is in the configuration.
func TestWithDrainIsWhatTheDrainWouldMakeOfIt(t *testing.T) {
	base := strings.Replace(cdn, "drains: []", "drains: [{target: msk-2, service: portal}]", 1)
	for _, tc := range []struct {
		words string
		drain config.Drain
	}{
		{"{target: msk-1}", config.Drain{Target: "msk-1"}},
		{"{target: msk-1, service: portal}", config.Drain{Target: "msk-1", Service: "portal"}},
		{"{target: msk-2, service: portal, hard: true}", config.Drain{Target: "msk-2", Service: "portal", Hard: true}},
		{"{target: nsk, hard: true}", config.Drain{Target: "nsk", Hard: true}},
	} {
		t.Run(tc.words, func(t *testing.T) {
			s := newWorld(t, base).snapshot()
			before, with := decisions(t, s), s.WithDrain(tc.drain)
			drained := newWorld(t, strings.Replace(base, "drains: [", "drains: ["+tc.words+", ", 1)).snapshot()
			if diff := cmp.Diff(decisions(t, drained), decisions(t, with)); diff != "" {
				t.Errorf("(-drained +with the drain):\n%s", diff)
			}
			for i, svc := range s.Policy().Services() {
				if got, want := with.Drained(i), drained.Drained(i); got != want {
					t.Errorf("%s: drained members %b, want %b", svc.Name(), got, want)
				}
			}
			if diff := cmp.Diff(before, decisions(t, s)); diff != "" {
				t.Errorf("the snapshot itself (-before +after):\n%s", diff)
			}
		})
	}
}

func TestADrainOfNoPlaceChangesNothing(t *testing.T) {
	s := newWorld(t, cdn).snapshot()
	if diff := cmp.Diff(decisions(t, s), decisions(t, s.WithDrain(config.Drain{Target: "nowhere"}))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
