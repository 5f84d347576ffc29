package config

import (
	"net/netip"
	"slices"
)

// allServices judges every service: many side by side, as long as there is nothing to tell of any.
func (k *checker) allServices() {
	services := k.c.Services
	if k.processors > 1 && len(services) >= 2*aside && k.processors.eachAside(len(services), func(first, end int) bool {
		own := *k
		own.reader = &reader{main: k.main, spoilt: k.spoilt}
		for _, s := range services[first:end] {
			own.service(s)
		}
		return len(own.problems) == 0
	}) {
		return
	}
	for _, s := range services {
		k.service(s)
	}
}

// service judges one service.
func (k *checker) service(s Service) {
	path := keyPath("services", s.Name)
	k.refersToChecks(path+".check", s.Checks)
	if k.refer(path+".map", s.Map, k.maps) && k.sound(path, "steer") && !slices.Contains(s.Steer, StageGeo) {
		k.warn(path+".map", "is not used: geo is not among the stages of steer")
	}
	if k.sound(path, "ttl", "ttl_min") && s.TTLMin > s.TTL {
		k.error(path+".ttl_min", "%d is more than the ttl of %d", s.TTLMin, s.TTL)
	}
	at := path + ".at"
	for _, m := range s.At {
		k.member(keyPath(at, m.Place), m)
	}
	k.minPlaces(path, s)
	k.sharedAddresses(path, s)
	k.unweighed(path, s)
	k.hosts(path, s)
}

// member judges a place's part in a service.
func (k *checker) member(path string, m Member) {
	if !k.places.known[m.Place] && ownName.pattern.MatchString(m.Place) {
		k.error(path, "no place is named %s%s", m.Place, k.meant(m.Place, k.places.words))
	}
	unknown := func(check string) bool { return !k.checks.known[check] }
	if slices.ContainsFunc(m.Checks, unknown) && k.given(path+".check") { // else they are those of the service
		k.refersToChecks(path+".check", m.Checks)
	}
	if k.sound(path, "weight", "degraded_weight") && m.DegradedWeight > m.Weight {
		k.error(k.firstGiven(path, "degraded_weight", "weight"), "degraded_weight %d is more than the weight of %d", m.DegradedWeight, m.Weight)
	}
	if m.Host == nil && k.sound(path, "addresses", "min_healthy") && m.MinHealthy.Count > len(m.Endpoints) && len(m.Endpoints) > 0 {
		k.error(path+".min_healthy", "%d is more than the number of addresses, %d: the place would never serve", m.MinHealthy.Count, len(m.Endpoints))
	}
}

// hosts judges a service whose places are known by name: all of them are, in one way, and one alias can only be
// given alone.
func (k *checker) hosts(path string, s Service) {
	way := func(m Member) string {
		switch {
		case m.Host == nil:
			return "addresses"
		case m.Host.Port == 0:
			return "cname"
		}
		return "srv"
	}
	for _, m := range s.At {
		at := func() string { return keyPath(path+".at", m.Place) }
		if first := s.At[0]; way(m) != way(first) && k.sound(at()) && k.sound(keyPath(path+".at", first.Place)) {
			k.error(at(), "has %s and %s has %s: all places of a service are given in one way", way(m), first.Place, way(first))
			return
		}
		switch {
		case m.Host == nil && m.Probe.IsValid():
			k.error(at()+".probe", "is for a member that has a name; an address takes its own, as {address: …, probe: …}")
		case m.Host != nil && m.Checks != nil && !m.Probe.IsValid():
			k.error(at(), "has a check and a name: give probe, the address that is probed")
		}
	}
	if len(s.At) == 0 || s.At[0].Host == nil {
		return
	}
	if s.HTTPS != nil {
		k.error(path+".https", "is for services with addresses")
	}
	if s.AllDown.Mode == AllDownAddresses {
		k.error(path+".all_down", "must not be addresses: the places of this service are given by name")
	}
	if way(s.At[0]) == "cname" && s.Answer != 1 {
		k.error(path+".answer", "must be 1: a name has one CNAME (RFC 1034 section 3.6.2)")
	}
}

// sharedAddresses warns of one address in two places of a service.
func (k *checker) sharedAddresses(path string, s Service) {
	type item struct{ member, number int }
	where := func(i item) string { return itemPath(k.addresses(path, s.At[i.member]), i.number) }
	first := make(map[netip.Addr]item, len(s.At))
	for i, m := range s.At {
		if len(k.spoilt) > 0 && !k.sound(k.addresses(path, m)) {
			continue
		}
		for j, e := range m.Endpoints {
			here, a := item{i, j}, e.Address
			if m.Checks == nil && e.Probe != a {
				k.warn(where(here)+".probe", "is not used: there is no check")
			}
			if earlier, ok := first[a]; ok {
				k.warn(where(here), "%s stands in two places of this service: first at %s", a, k.c.At(where(earlier)))
				continue
			}
			first[a] = here
		}
	}
}

// addresses is the path of the list of a member's addresses.
func (k *checker) addresses(path string, m Member) string {
	at := keyPath(path+".at", m.Place)
	if k.given(at + ".addresses") {
		at += ".addresses"
	}
	return at
}

// distances warns of places that distance should pick but cannot, since they have no location.
func (k *checker) distances() {
	places := make(map[string]Place, len(k.c.Places))
	for _, p := range k.c.Places {
		places[p.Name] = p
	}
	told := map[string]bool{}
	for _, s := range k.c.Services {
		how, strict := k.byDistance(s)
		if how == "" || !strict && !s.anyLocated(places) {
			continue
		}
		for _, m := range s.At {
			p, ok := places[m.Place]
			if !ok || p.Located || p.PartnersOnly || told[p.Name] {
				continue
			}
			told[p.Name] = true
			path := keyPath(p.Kind.section(), p.Name)
			if k.sound(path) {
				k.warn(path, "has no location, so %s of service %s never picks it by distance", how, s.Name)
			}
		}
	}
}

// byDistance tells by what a service looks for near places, and whether the operator asked for that in words.
func (k *checker) byDistance(s Service) (how string, strict bool) {
	if !slices.Contains(s.Steer, StageGeo) {
		return "", false
	}
	if s.Map == "" {
		return "the geo stage", false
	}
	for _, m := range k.c.Maps {
		if m.Name == s.Map && slices.ContainsFunc(m.Rules, func(r Rule) bool { return r.Nearest }) {
			return "map " + m.Name, true
		}
	}
	return "", false
}

func (s Service) anyLocated(places map[string]Place) bool {
	return slices.ContainsFunc(s.At, func(m Member) bool { return places[m.Place].Located })
}

// section is the key of the config under which places of a kind stand.
func (p PlaceKind) section() string {
	if p == Site {
		return "sites"
	}
	return "datacenters"
}
