package traffic_test

import (
	"fmt"
	"net/netip"
	"strings"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/traffic"
	"gslb/geo"
)

// Two places are equals, and one of them is to be drained.
func Example() {
	const text = `
datacenters: {msk-1: {}, msk-2: {}}
services: {video: {steer: [datacenters], at: {msk-1: [192.0.2.1], msk-2: [192.0.2.2]}}}
`
	nowhere := geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {})
	sunny := func(text string) *steer.Snapshot {
		cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
		policy, more := steer.Compile(cfg)
		if err := append(problems, more...).Err(); err != nil {
			panic(err)
		}
		return traffic.Sunny(policy, nowhere, noon)
	}
	before, after := sunny(text), sunny(text+"drains: [{target: msk-1}]\n")
	crowds := []traffic.Crowd{{Address: netip.MustParseAddr("203.0.113.7"), Weight: 60}, {Address: netip.MustParseAddr("198.51.100.9"), Weight: 40}}

	for _, m := range traffic.Compare(before, after, crowds).Moves {
		fmt.Printf("%s: %g clients from %s to %s\n", m.Service, m.Weight, m.From, m.To)
	}
	for _, l := range traffic.Losses(before, map[string]float64{"video": 300}, crowds) {
		fmt.Println(strings.TrimSpace(fmt.Sprint(l.Place, " ", l.Carried)))
	}
	// Output:
	// video: 50 clients from msk-1 to msk-2
	// [{msk-1 150} {msk-2 150}]
	// msk-1 [{msk-2 300}]
	// msk-2 [{msk-1 300}]
}
