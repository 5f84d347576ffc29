package config

import (
	"net/netip"
	"slices"
)

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

// peerAddresses checks that no two sessions have one address: it is what tells peers apart.
func (k *checker) peerAddresses() {
	first := map[netip.Addr]string{}
	for _, p := range k.c.Partners {
		for i, peer := range p.Peers {
			path := itemPath(keyPath("partners", p.Name)+".peers", i) + ".address"
			switch earlier := first[peer.Address]; {
			case !peer.Address.IsValid() || !k.sound(path):
			case earlier != "":
				k.error(path, "%s is the address of another peer: at %s; one address has one session", peer.Address, k.c.At(earlier))
			default:
				first[peer.Address] = path
			}
		}
	}
}
