package config

import (
	"net/netip"
	"slices"
)

// unweighed warns of a place of weight 0 that gets every question of a family all the same, because no other place of its
// tier has an address of it: whoever gave the weight wanted it to be the last.
func (k *checker) unweighed(path string, s Service) {
	nought := func(m Member) bool { return m.Weight == 0 && m.Host == nil }
	if !slices.ContainsFunc(s.At, nought) || !k.sound(path) || !k.sound(path+".at") {
		return
	}
	told := map[string]bool{}
	for _, t := range k.tiersOf(s) {
		for _, f := range families {
			for _, m := range t.alone(f) {
				at := keyPath(path+".at", m.Place)
				if !told[at+f.asked] {
					told[at+f.asked] = true
					k.warn(k.firstGiven(at, "weight"), "has weight 0 and gets every %s question all the same: no other place %s has an %s address", f.asked, t.where, f.name)
				}
			}
		}
	}
}

// family is one kind of addresses.
type family struct {
	name, asked string // asked: by which type
	holds       func(netip.Addr) bool
}

var families = [...]family{{"IPv4", "A", netip.Addr.Is4}, {"IPv6", "AAAA", netip.Addr.Is6}}

// tier is places of a service that are equals for some clients.
type tier struct {
	where   string
	members []Member
}

// alone gives the members of weight 0 that have addresses of a family, where others have a weight but no such address.
func (t tier) alone(f family) []Member {
	var of []Member
	weighed := false
	for _, m := range t.members {
		speaks := slices.ContainsFunc(m.Endpoints, func(e Endpoint) bool { return f.holds(e.Address) })
		switch {
		case m.Weight > 0 && speaks:
			return nil
		case m.Weight > 0:
			weighed = true
		case speaks:
			of = append(of, m)
		}
	}
	if !weighed {
		return nil
	}
	return of
}

// tiersOf gives the tiers of a service in which there can be several places, whoever asks. Those of partners come
// and go with what is announced.
func (k *checker) tiersOf(s Service) []tier {
	var tiers []tier
	add := func(where string, has func(place string) bool) {
		of := slices.DeleteFunc(slices.Clone(s.At), func(m Member) bool { return !has(m.Place) })
		tiers = append(tiers, tier{where, of})
	}
	places := map[string]Place{}
	for _, p := range k.c.Places {
		places[p.Name] = p
	}
	geo, datacenters := slices.Contains(s.Steer, StageGeo), slices.Contains(s.Steer, StageDatacenters)
	for _, m := range k.c.Maps {
		if !geo || m.Name != s.Map {
			continue
		}
		for i, rule := range m.Rules {
			for j, names := range rule.To {
				where := "beside it at " + k.c.At(itemPath(itemPath("maps."+m.Name, i)+".to", j)).String()
				add(where, func(place string) bool { return slices.Contains(names, place) })
			}
		}
	}
	if datacenters {
		add("among the datacenters", func(place string) bool { return places[place].Kind == Datacenter && !places[place].PartnersOnly })
	}
	if !geo && !datacenters {
		add("of the service", func(place string) bool { return !places[place].PartnersOnly })
	}
	return tiers
}
