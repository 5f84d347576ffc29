package dns_test

import (
	"fmt"
	"maps"
	"net/netip"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// Bytes in, bytes out: the answer depends on the packet and the snapshot alone.
func ExampleResponder() {
	cfg, _ := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(`
datacenters: {msk: {}}
services: {portal: {ttl: 300, at: {msk: [192.0.2.1]}}}
zones:
  ok.test: {ns: [ns1], records: ns1 A 192.0.2.53, services: {www: portal}}
`)})
	policy, _ := steer.Compile(cfg)
	now := time.Now()
	s := steer.Build(steer.Inputs{
		Policy: policy, Config: 1, Health: health.NewBoard().Latest(), Routes: bgp.NewTable(1, nil),
		Geo: geo.NewMap(maps.All[map[netip.Prefix]geo.Location](nil)), Now: now,
	}, nil)

	packet, _ := new(mdns.Msg).SetQuestion("www.ok.test.", mdns.TypeA).Pack()
	r := dns.NewResponder("ns1", "1.0")
	reply := r.Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("203.0.113.7"), Now: now}, nil)

	var m mdns.Msg
	fmt.Println(m.Unpack(reply), m.Answer)
	// Output:
	// <nil> [www.ok.test.	300	IN	A	192.0.2.1]
}
