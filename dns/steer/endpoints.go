package steer

import (
	"net/netip"

	"gslb/health"
)

// EndpointOf is one endpoint of a place, whatever services it has there, with everything that probes it.
type EndpointOf struct {
	Address netip.Addr
	Targets []health.Target
}

// EndpointsOf gives the endpoints of a place, each address once.
func (p *Policy) EndpointsOf(place string) []EndpointOf {
	var all []EndpointOf
	index := map[netip.Addr]int{}
	for _, svc := range p.services {
		for _, m := range svc.members {
			if p.places[m.place].name != place {
				continue
			}
			for _, e := range m.endpoints {
				i, known := index[e.address]
				if !known {
					i = len(all)
					index[e.address] = i
					all = append(all, EndpointOf{Address: e.address})
				}
				for _, t := range e.targets {
					all[i].Targets = append(all[i].Targets, p.targets[t])
				}
			}
		}
	}
	return all
}
