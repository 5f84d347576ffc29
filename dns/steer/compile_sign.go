package steer

import (
	"fmt"
	"slices"
	"time"

	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/zone"
)

// sign notes how a zone is to be signed.
func (c *compiler) sign(z config.Zone, built *zone.Zone) {
	if z.DNSSEC == nil {
		return
	}
	source := sign.Source{
		Zone: built, Folder: z.DNSSEC.Keys, Algorithm: sign.ECDSAP256SHA256,
		Rules: sign.Rules{Denial: sign.NSEC, Validity: z.DNSSEC.Validity, KeyTTL: z.TTL, Given: c.policy.given},
	}
	if z.DNSSEC.Algorithm == "ed25519" {
		source.Algorithm = sign.Ed25519
	}
	switch z.DNSSEC.Denial {
	case config.DenialNSEC3:
		source.Rules.Denial = sign.NSEC3
	case config.DenialCompact:
		source.Rules.Denial = sign.Compact
	}
	if z.Transfer != nil {
		c.problems = append(c.problems, config.Problem{
			Pos: c.cfg.At(z.Path + ".transfer"), Path: z.Path + ".transfer", Warning: true,
			Message: "secondaries take new signatures only when the serial grows: raise it at least every " + config.Duration(z.DNSSEC.Validity/4),
		})
	}
	source.Longest = max(c.checkSigned(z, built), time.Duration(z.TTL)*time.Second)
	source.Propagation, source.ParentTTL = z.DNSSEC.Propagation, z.DNSSEC.ParentTTL
	c.policy.signed = append(c.policy.signed, source)
}

// checkSigned tells what cannot be signed, or cannot be believed when it is, and gives the longest TTL of the zone's records.
func (c *compiler) checkSigned(z config.Zone, built *zone.Zone) time.Duration {
	path, longest := z.Path+".dnssec", uint32(0)
	for name, node := range built.All() {
		for set := range node.Sets() {
			longest = max(longest, set.TTL)
			if name == built.Origin() && sign.Reserved(set.Type) {
				c.problem(path, fmt.Sprintf("the zone's records have %s, which the server makes of its keys: remove it", zone.TypeWord(set.Type)))
			}
		}
		if node.Service >= 0 {
			longest = max(longest, c.policy.services[node.Service].ttl)
		}
	}
	if least := time.Duration(longest) * time.Second * 4; z.DNSSEC.Validity < least {
		c.problem(path+".validity", fmt.Sprintf("%s is too short for TTLs of %d seconds: a resolver would keep records for longer than their signatures are good; give at least %s",
			config.Duration(z.DNSSEC.Validity), longest, config.Duration(least)))
	}
	return time.Duration(longest) * time.Second
}

// checkDelegated warns of zones of ours that a signed zone of ours does not lead to: it proves that they do not exist.
func (c *compiler) checkDelegated() {
	for _, z := range c.cfg.Zones {
		origin, err := zone.ParseName(z.Name)
		if err != nil || origin == zone.Root {
			continue // told before
		}
		parent, ok := c.policy.Zone(origin.Parent())
		signed := ok && slices.ContainsFunc(c.policy.signed, func(s sign.Source) bool { return s.Zone == parent })
		if signed && parent.Find(origin).Kind != zone.Delegation {
			c.problems = append(c.problems, config.Problem{
				Pos: c.cfg.At(z.Path), Path: z.Path, Warning: true,
				Message: fmt.Sprintf("the signed zone %s has no NS records for it, and so proves to resolvers that it does not exist", parent.Origin()),
			})
		}
	}
}

// given tells what a service can give at all: its families are those of its addresses, however they fare.
func (p *Policy) given(service int) sign.Given {
	svc := &p.services[service]
	types := svc.types()
	if svc.gives == zone.TypeA {
		has := svc.Families()
		types = slices.DeleteFunc(types, func(t uint16) bool {
			return t == zone.TypeA && !has[IPv4] || t == zone.TypeAAAA && !has[IPv6] || t == zone.TypeHTTPS && !has[IPv4] && !has[IPv6]
		})
	}
	return sign.Given{Types: types, TTL: svc.ttl}
}

// Families tells of which families the service has addresses at all, however they fare.
func (svc *Service) Families() (has [2]bool) {
	for i := range svc.members {
		for f, addresses := range svc.members[i].all {
			has[f] = has[f] || len(addresses) > 0
		}
	}
	for _, a := range svc.allDown.Addresses {
		has[familyOf(a)] = true
	}
	return has
}
