package config

import (
	"net/netip"
	"time"
)

func servicesForm() form[[]Service] {
	return named("services by name", ownName, func(n *node) Service { return Service{Name: n.name, Ramp: noRamp} }, serviceForm())
}

func serviceForm() form[Service] {
	stage := word(choice[Stage]{"partners", StagePartners}, choice[Stage]{"geo", StageGeo}, choice[Stage]{"datacenters", StageDatacenters})
	return object("check, ttl, steer, map, answer, pick, all_down, at …",
		key("check", "How the endpoints are probed: a check, or several, of which the worst counts. Default: they always count as healthy.", checksOf(), func(s *Service) *[]string { return &s.Checks }),
		key("ttl", "TTL of the answers in seconds.", seconds(1, maxTTL), func(s *Service) *uint32 { return &s.TTL }).or("60"),
		key("ttl_min", "Least TTL, while a verdict may change soon. Default: half of ttl, at least 1.", seconds(1, maxTTL), func(s *Service) *uint32 { return &s.TTLMin }),
		key("steer", "Stages by which places are looked for, in order.", setOf("stages", 1, stage), func(s *Service) *[]Stage { return &s.Steer }).or("[partners, geo, datacenters]"),
		key("map", "Map of the geo stage. Default: nearest by distance.", reference("the name of a map"), func(s *Service) *string { return &s.Map }),
		key("answer", "How many places of the winning tier one answer gives, at most 32, or all.", answerForm(), func(s *Service) *int { return &s.Answer }).or("1"),
		key("pick", "How places are taken from a tier: at random by weight for each query, or by hash of the client's network.",
			word(choice[Pick]{"weighted", PickWeighted}, choice[Pick]{"hash", PickHash}), func(s *Service) *Pick { return &s.Pick }).or("weighted"),
		key("all_down", "What is answered when nothing serves: as if all were up, no data, SERVFAIL, or these addresses.", allDownForm(), func(s *Service) *AllDown { return &s.AllDown }).or("serve"),
		key("max_addresses", "Most addresses in one answer.", number[int](1, 255), func(s *Service) *int { return &s.MaxAddresses }).or("16"),
		key("https", "Give HTTPS records (RFC 9460), with the addresses that the client gets as their hints.", httpsForm(), func(s *Service) **HTTPS { return &s.HTTPS }),
		key("demand", "What the clients of this service ask for at its peak, in the unit of the places' capacity.", amount(), func(s *Service) *float64 { return &s.Demand }),
		key("min_places", "How many places drains and states by hand must leave; a config with fewer is refused, unless drains of these places give a reason with force.", number[int](0, 10000),
			func(s *Service) *int { return &s.MinPlaces }).or("0"),
		key("ramp", "How long a place that comes back to this service takes to get all of its clients. Default: as the place says.", ramp(),
			func(s *Service) *time.Duration { return &s.Ramp }),
		key("at", "Places that give this service, and their addresses.", atForm(), func(s *Service) *[]Member { return &s.At }).required(),
	)
}

// httpsForm keeps nil where the key is not given.
func httpsForm() form[*HTTPS] {
	return optional(object("alpn, port",
		key("alpn", "Protocols that are spoken there, the preferred first.", setOf("protocols", 1, text("a protocol such as h2", `^[!-~]{1,32}$`)), func(h *HTTPS) *[]string { return &h.ALPN }).required(),
		key("port", "Port of the service. Default: the one of the URL.", number[uint16](1, 65535), func(h *HTTPS) *uint16 { return &h.Port }),
	))
}

// maxTTL is the largest TTL (RFC 2181, 8).
const maxTTL = 1<<31 - 1

func answerForm() form[int] {
	return either(word(choice[int]{"all", 0}), number[int](1, 10000))
}

func allDownForm() form[AllDown] {
	mode := word(choice[AllDownMode]{"serve", AllDownServe}, choice[AllDownMode]{"nodata", AllDownNodata}, choice[AllDownMode]{"servfail", AllDownServfail})
	return either(
		of(mode, func(m AllDownMode, to *AllDown) { *to = AllDown{Mode: m} }),
		of(addresses(), func(list []netip.Addr, to *AllDown) { *to = AllDown{AllDownAddresses, list} }),
	)
}

func addresses() form[[]netip.Addr] { return setOf("addresses", 1, address()) }

// endpoints is a list of endpoints, each an address, or a mapping with more about it.
func endpoints() form[[]Endpoint] {
	short := of(address(), func(a netip.Addr, to *Endpoint) { *to = Endpoint{Address: a, Probe: a} })
	full := object("address, probe, state",
		key("address", "The address that clients get.", address(), func(e *Endpoint) *netip.Addr { return &e.Address }).required(),
		key("probe", "The address that is probed in its place. Default: the same.", address(), func(e *Endpoint) *netip.Addr { return &e.Probe }),
		key("state", "State by hand of the endpoint, whatever its checks say: up, down, or auto. Default: that of its place.", stateForm(), func(e *Endpoint) *State { return &e.State }).or("auto"),
	)
	complete := of(full, func(e Endpoint, to *Endpoint) {
		if *to = e; !e.Probe.IsValid() {
			to.Probe = e.Address
		}
	})
	return setBy("addresses", 1, either(short, complete), func(e Endpoint) netip.Addr { return e.Address })
}

// noWeight and noRamp mark what is not given, until what holds instead is known.
const (
	noWeight = -1
	noRamp   = -1
)

func atForm() form[[]Member] {
	full := exactlyOne(object("addresses, cname, srv, probe, weight, check, min_healthy, ramp …",
		key("addresses", "Addresses of the service in this place.", endpoints(), func(m *Member) *[]Endpoint { return &m.Endpoints }),
		key("cname", "A host that the service's name becomes an alias of, in place of addresses.", cnameForm(), func(m *Member) **Host { return &m.Host }),
		key("srv", "A host and port that SRV questions are answered with, in place of addresses.", srvForm(), func(m *Member) **Host { return &m.Host }),
		key("probe", "The address that is probed for a member that has a name.", address(), func(m *Member) *netip.Addr { return &m.Probe }),
		key("weight", "Weight of this place for this service. Default: the place's.", weight(), func(m *Member) *int { return &m.Weight }),
		key("degraded_weight", "Weight while every endpoint is degraded. Default: the place's, or weight where that is given.", weight(), func(m *Member) *int { return &m.DegradedWeight }),
		key("check", "How these addresses are probed. Default: as the service's.", checksOf(), func(m *Member) *[]string { return &m.Checks }),
		key("min_healthy", "With fewer healthy addresses, as a number or a part such as 50%, the place is withdrawn.", share(), func(m *Member) *Share { return &m.MinHealthy }).or("1"),
		key("ramp", "How long this place takes to get all of its clients back for this service. Default: as the service says.", ramp(),
			func(m *Member) *time.Duration { return &m.Ramp }),
	), "addresses", "cname", "srv")
	short := part(endpoints(), func(m *Member) *[]Endpoint { return &m.Endpoints })
	member := either(short, full)
	member.fill = full.fill
	read := member.read
	member.read = func(r *reader, n *node, to *Member) {
		full.fill(r, to)
		read(r, n, to)
	}
	at := named("places and their addresses", ownName, func(n *node) Member {
		return Member{Place: n.name, Weight: noWeight, DegradedWeight: noWeight, Ramp: noRamp}
	}, member)
	return atLeastOne(at, "names no place: give at least one")
}

func cnameForm() form[*Host] {
	return of(domain("the name of a host such as cdn.example.net."), func(name string, to **Host) { *to = &Host{Name: name} })
}

func srvForm() form[*Host] {
	return optional(object("target, port",
		key("target", "The host.", domain("the name of a host such as a.example.net."), func(h *Host) *string { return &h.Name }).required(),
		key("port", "The port of the service there.", number[uint16](1, 65535), func(h *Host) *uint16 { return &h.Port }).required(),
	))
}

// atLeastOne refuses an empty mapping.
func atLeastOne[T any](f form[[]T], message string) form[[]T] {
	f.takes = isMapping
	f.schema.Type = jsonTypes(f.takes)
	f.schema.MinProperties = 1
	read := f.read
	f.read = func(r *reader, n *node, to *[]T) {
		if len(n.children) == 0 {
			r.fault(n, "%s", message)
		}
		read(r, n, to)
	}
	return f
}
