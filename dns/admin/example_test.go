package admin_test

import (
	"fmt"
	"maps"
	"net/netip"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// The lines are those that dig prints, and GET /v1/explain gives.
func ExampleExplain() {
	cfg, _ := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(`
datacenters: {msk: {}}
services: {www: {at: {msk: [192.0.2.1]}}}
zones:
  ok.test: {ns: [ns1], records: ns1 A 192.0.2.53, services: {www: www}}
`)})
	policy, _ := steer.Compile(cfg)
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	s := steer.Build(steer.Inputs{
		Policy: policy, Config: 1, Health: health.NewBoard().Latest(), Routes: bgp.NewTable(1, nil),
		Geo: geo.NewMap(maps.All[map[netip.Prefix]geo.Location](nil)), Now: now,
	}, nil)
	why, err := admin.Explain(s, admin.Question{Name: "www.ok.test", Client: "203.0.113.7"}, now)
	fmt.Println(why.Text[1], err)
	fmt.Println(why.Text[3])
	// Output:
	// name=www.ok.test service=www answer=192.0.2.1 ttl=60 scope=0 <nil>
	// place=msk tier=1 verdict=chosen
}
