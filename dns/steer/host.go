package steer

import (
	"fmt"
	"net/netip"
	"strings"

	"gslb/config"
	"gslb/dns/zone"
)

// Host is what a place gives that is known by its name.
type Host struct {
	Name   zone.Name
	Port   uint16 // of a SRV record; 0: a CNAME record
	Weight uint16 // of a SRV record: the place's
}

// unaddressed stands for the address of a member that has a name. It belongs to the family by which such a service is
// judged, and is never given.
var unaddressed = netip.IPv4Unspecified()

// hostOf is the host of a member; config has made sure that its name is one.
func hostOf(h *config.Host) *Host {
	name, _ := zone.ParseName(h.Name)
	return &Host{Name: name, Port: h.Port}
}

// rrtype is the type of the record that gives the host.
func (h *Host) rrtype() uint16 {
	if h.Port == 0 {
		return zone.TypeCNAME
	}
	return zone.TypeSRV
}

// String gives the host as reasons show it: "cdn.example.net", "a.example.net:443".
func (h *Host) String() string {
	if h.Port == 0 {
		return display(h.Name)
	}
	return fmt.Sprintf("%s:%d", display(h.Name), h.Port)
}

// shown names one of a member's endpoints.
func (m *member) shown(e endpoint) string {
	if m.host != nil {
		return m.host.String()
	}
	return e.address.String()
}

// Gives is the type of record that gives the service's places: A for addresses of both families, CNAME or SRV.
func (svc *Service) Gives() uint16 { return svc.gives }

// types are the types of record that the service's name answers by itself.
func (svc *Service) types() []uint16 {
	switch {
	case svc.gives != zone.TypeA:
		return []uint16{svc.gives}
	case svc.https != nil:
		return []uint16{zone.TypeA, zone.TypeAAAA, zone.TypeHTTPS}
	}
	return []uint16{zone.TypeA, zone.TypeAAAA}
}

// Hosts appends the hosts of the answer of a service whose places are known by name: those of every chosen place,
// rotated, at most as many as the service allows.
func (d *Decision) Hosts(s *Snapshot, service int, to []Host) []Host {
	start := len(to)
	svc := &s.in.Policy.services[service]
	for _, i := range d.chosen[:d.n] {
		if m := &svc.members[i]; m.host != nil {
			h := *m.host
			h.Weight = uint16(s.standings.of(service)[i].weight) // config keeps weights below 2^16
			to = append(to, h)
		}
	}
	rotate(to[start:], d.turn)
	return to[:min(len(to), start+svc.maxAddresses)]
}

// foreign are the aliases that lead out of the policy's zones, each once, in words.
func (p *Policy) foreign(svc *Service) string {
	var names []string
	for i := range svc.members {
		if h := svc.members[i].host; h != nil && h.Port == 0 {
			if _, ours := p.Zone(h.Name); !ours {
				names = append(names, display(h.Name))
			}
		}
	}
	return strings.Join(names, ", ")
}
