package steer

import (
	"net/netip"

	"gslb/config"
)

// Gift is one thing that a service gives: an address, or a host in place of one, or a failure. Two are the same when they
// are equal.
type Gift struct {
	Address netip.Addr
	Host    Host // its weight is 0
	Fails   bool // SERVFAIL
}

// Gifts is what a member gives to a family while all is well, by its index in [Service.Places].
func (svc *Service) Gifts(member int, f Family) []Gift {
	m := &svc.members[member]
	var all []Gift
	for _, a := range m.all[f] {
		if m.host != nil {
			all = append(all, Gift{Host: *m.host})
		} else {
			all = append(all, Gift{Address: a})
		}
	}
	return all
}

// LastGifts is what the all_down rule gives to a family, without any place.
func (svc *Service) LastGifts(f Family) []Gift {
	var all []Gift
	for _, a := range svc.allDown.Addresses {
		if familyOf(a) == f {
			all = append(all, Gift{Address: a})
		}
	}
	if svc.allDown.Mode == config.AllDownServfail {
		all = append(all, Gift{Fails: true})
	}
	return all
}
