package steer

import (
	"slices"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/config"
)

func (c *compiler) compilePartners() {
	c.policy.local = bgp.Local{ASN: c.cfg.BGP.ASN, RouterID: c.cfg.BGP.RouterID, Listen: c.cfg.BGP.Listen}
	c.policy.rpki = rpki.From{File: c.cfg.BGP.RPKI.File, RTR: c.cfg.BGP.RPKI.RTR}
	for _, p := range c.cfg.Partners {
		site, ok := c.places[p.Site]
		if !ok {
			continue
		}
		c.policy.partners = append(c.policy.partners, partner{Partner: believed(p), site: site, shadow: p.Shadow})
		c.policy.networks = append(c.policy.networks, p.Networks...)
		for _, peer := range p.Peers {
			c.policy.peers = append(c.policy.peers, session(p.Name, peer))
		}
	}
}

// believed gives what is believed of a partner.
func believed(p config.Partner) bgp.Partner {
	partner := bgp.Partner{
		Name: p.Name, Networks: p.Networks, Stale: p.Stale,
		Accept: bgp.Accept{
			Within: p.Accept.Within, Origins: p.Accept.Origins, MaxPrefixes: p.Accept.MaxPrefixes,
			IPv4: bgp.Lengths(p.Accept.IPv4), IPv6: bgp.Lengths(p.Accept.IPv6),
		},
	}
	for _, c := range p.Communities {
		partner.Communities = append(partner.Communities, bgp.Community{Value: c.Value, Ignore: c.Ignore, Prefer: c.Prefer})
	}
	return partner
}

func session(partner string, p config.Peer) bgp.Peer {
	return bgp.Peer{
		Partner: partner, Address: p.Address, Port: p.Port, ASN: p.ASN, Passive: p.Passive, Local: p.Local,
		PasswordFile: p.PasswordFile, TTLSecurity: p.TTLSecurity, HoldTime: p.Hold, Keepalive: p.Keepalive,
		AddPath: p.AddPath, Only: only(p.Families),
	}
}

func only(families []config.Family) bgp.Only {
	switch {
	case !slices.Contains(families, config.FamilyIPv6):
		return bgp.OnlyIPv4
	case !slices.Contains(families, config.FamilyIPv4):
		return bgp.OnlyIPv6
	}
	return bgp.BothFamilies
}
