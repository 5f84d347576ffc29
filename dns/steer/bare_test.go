package steer_test

import (
	"slices"
	"testing"

	"gslb/config"
)

// A drain is told of the services that it would leave without a serving place.
func TestDrainThatWouldLeaveAServiceBare(t *testing.T) {
	for name, tc := range map[string]struct {
		drains string
		drain  config.Drain
		want   []string
	}{
		"another serves":     {"", config.Drain{Target: "a"}, nil},
		"the last one":       {"drains: [{target: b}]\n", config.Drain{Target: "a"}, []string{"shop"}},
		"of this service":    {"drains: [{target: b}]\n", config.Drain{Target: "a", Service: "shop"}, []string{"shop"}},
		"of another service": {"drains: [{target: b}]\n", config.Drain{Target: "a", Service: "else"}, nil},
		"bare before":        {"drains: [{target: a}, {target: b}]\n", config.Drain{Target: "a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWorld(t, shop("weighted", "1", 100, 100)+tc.drains).snapshot()
			if got := s.LeftBare(tc.drain); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
