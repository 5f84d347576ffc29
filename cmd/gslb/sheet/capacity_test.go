package sheet

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/traffic"
	"gslb/geo"
)

// equals is a config of n equal places that are filled to a part of their capacity.
func equals(n int, filled float64) string {
	var places, at []string
	for i := range n {
		places = append(places, fmt.Sprintf("p%d: {capacity: 1000}", i))
		at = append(at, fmt.Sprintf("p%d: [192.0.2.%d]", i, i+1))
	}
	return fmt.Sprintf("datacenters: {%s}\nservices: {www: {steer: [datacenters], demand: %g, at: {%s}}}\n",
		strings.Join(places, ", "), 1000*filled*float64(n), strings.Join(at, ", "))
}

// So far equal places may be filled: u of each is u·N/(N-1) of the others when one is lost.
func TestEqualPlacesMayBeFilledSoFar(t *testing.T) {
	for n, filled := range map[int]float64{2: 0.375, 3: 0.5, 4: 0.5625, 6: 0.625} {
		for _, tc := range []struct {
			filled float64
			warns  int
		}{{filled, 0}, {filled + 0.001, n}} {
			cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(equals(n, tc.filled))})
			policy, more := steer.Compile(cfg)
			if err := append(problems, more...).Err(); err != nil {
				t.Fatal(err)
			}
			nowhere := geo.NewMap(maps.All(map[netip.Prefix]geo.Location{}))
			c := Reckon(cfg, traffic.Sunny(policy, nowhere, time.Now()), "", nil)
			if got := c.Warnings(cfg); len(got) != tc.warns {
				t.Errorf("%d places filled to %g: %d warnings, want %d: %v", n, tc.filled, len(got), tc.warns, got)
			}
		}
	}
}
