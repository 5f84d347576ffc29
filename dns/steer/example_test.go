package steer_test

import (
	"fmt"
	"maps"
	"net/netip"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// A client inside a partner's network gets the site there, any other a datacenter.
func Example() {
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(`
datacenters: {msk: {}}
sites: {nsk: {}}
partners: {sibtel: {site: nsk, networks: [203.0.113.0/24]}}
services: {video: {at: {msk: [192.0.2.11], nsk: [198.51.100.1]}}}
`)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		fmt.Println(err)
		return
	}
	s := steer.Build(steer.Inputs{
		Policy: policy,
		Health: health.NewBoard().Latest(), // nothing is checked here
		Routes: bgp.NewTable(1, policy.Routes()),
		Geo:    geo.NewMap(maps.All[map[netip.Prefix]geo.Location](nil)),
		Now:    time.Now(),
	}, nil)
	for _, address := range []string{"203.0.113.7", "192.88.99.7"} {
		client := s.Client(netip.MustParseAddr(address), steer.Subnet{})
		d := steer.Decide(s, steer.Query{Service: 0, Client: client, Family: steer.IPv4})
		fmt.Println(address, d.Placed, d.Addresses(s, 0, nil))
	}
	// Output:
	// 203.0.113.7 partners [198.51.100.1]
	// 192.88.99.7 datacenters [192.0.2.11]
}
