package config

import "slices"

// partner judges one partner.
func (k *checker) partner(p Partner) {
	path := keyPath("partners", p.Name)
	switch {
	case p.Site == "" || !k.sound(path, "site"):
	case k.places.known[p.Site] && !k.sites.known[p.Site]:
		k.error(path+".site", "%s is a datacenter: partners' clients are sent to a site", p.Site)
	default:
		k.refer(path+".site", p.Site, k.sites)
	}
	if k.sound(path, "peers", "networks") && len(p.Peers) == 0 && len(p.Networks) == 0 {
		k.warn(path, "has neither networks nor peers: it steers nobody")
	}
	if len(p.Peers) > 0 {
		k.peers(path, p)
	}
}

// peers judges the sessions of a partner.
func (k *checker) peers(path string, p Partner) {
	if k.sound("bgp") && (k.c.BGP.ASN == 0 || !k.c.BGP.RouterID.IsValid()) {
		k.error(path+".peers", "a BGP session needs bgp.asn and bgp.router_id")
	}
	passive := slices.IndexFunc(p.Peers, func(p Peer) bool { return p.Passive })
	if passive >= 0 && len(k.c.BGP.Listen) == 0 && k.sound("bgp") {
		k.error(itemPath(path+".peers", passive)+".passive", "a passive session needs bgp.listen: nobody could open it")
	}
	for i, peer := range p.Peers {
		at := itemPath(path+".peers", i)
		switch {
		case peer.Local.IsValid() && peer.Local.Is4() != peer.Address.Is4():
			k.error(at+".local", "%s is of another family than the peer's address %s", peer.Local, peer.Address)
		case peer.Local.IsValid() && peer.Passive:
			k.error(at+".local", "means nothing in a passive session: the address is that of bgp.listen")
		}
		if peer.Keepalive > 0 && peer.Keepalive > peer.Hold/3 && k.sound(at, "hold") {
			k.error(at+".keepalive", "%s is more than a third of the hold time of %s", Duration(peer.Keepalive), Duration(peer.Hold))
		}
	}
	if k.sound(path, "accept") && len(p.Accept.Within) == 0 && len(p.Accept.Origins) == 0 {
		k.warn(path+".peers", "believes any prefix of any origin: set accept.within or accept.origins")
	}
}

// geoMap judges one map.
func (k *checker) geoMap(m Map) {
	path := keyPath("maps", m.Name)
	for i, r := range m.Rules {
		k.geoRule(itemPath(path, i), r)
	}
	for i, r := range m.Rules[:max(0, len(m.Rules)-1)] {
		if r.fitsAll() && k.sound(itemPath(path, i)) {
			k.warn(itemPath(path, i+1), "is never reached: rule %d before it fits every client", i+1)
			return
		}
	}
}

// fitsAll tells a rule without conditions.
func (r Rule) fitsAll() bool {
	return r.Country == "" && r.Continent == "" && r.City == "" && r.ASN == 0 && r.Region == "" && len(r.Networks) == 0
}

func (k *checker) geoRule(path string, r Rule) {
	if r.Region != "" && r.Country == "" && k.sound(path, "country") {
		k.error(path+".region", "needs country: regions of different countries have the same names")
	}
	first := map[string]string{}
	for i, tier := range r.To {
		for j, place := range tier {
			at := itemPath(path+".to", i)
			if nested := itemPath(at, j); k.given(nested) {
				at = nested
			}
			if !k.refer(at, place, k.places) {
				continue
			}
			if earlier := first[place]; earlier != "" {
				k.warn(at, "%s stands in this rule twice: first at %s, which is where it counts", place, k.c.At(earlier))
				continue
			}
			first[place] = at
		}
	}
}
