package config

import "net/netip"

func mapsForm() form[[]Map] {
	rules := part(listOf("rules", 1, ruleForm()), func(m *Map) *[]Rule { return &m.Rules })
	return named("lists of rules by name", ownName, func(n *node) Map { return Map{Name: n.name} }, rules)
}

func ruleForm() form[Rule] {
	return object("country, region, continent, city, asn, networks, to",
		key("country", "Two letters (ISO 3166-1).", text("a country of two capital letters such as RU", `^[A-Z]{2}$`), func(r *Rule) *string { return &r.Country }),
		key("region", "The part after the dash of ISO 3166-2; needs country.", freeText("a region such as NVS", `^[A-Z0-9]{1,3}$`), func(r *Rule) *string { return &r.Region }),
		key("continent", "Two letters.", words("AF", "AN", "AS", "EU", "NA", "OC", "SA"), func(r *Rule) *string { return &r.Continent }),
		key("city", "English name of a city, where the database has it.", anything("the name of a city"), func(r *Rule) *string { return &r.City }),
		key("asn", "Autonomous system of the client.", asn(), func(r *Rule) *uint32 { return &r.ASN }),
		key("networks", "Networks of the client.", setOf("networks", 1, prefix()), func(r *Rule) *[]netip.Prefix { return &r.Networks }),
		key("to", "nearest, or places in order; a nested list is one tier of equals.", toForm(), func(r *Rule) *Rule { return r }).required(),
	)
}

// toForm reads nearest, or tiers of places.
func toForm() form[Rule] {
	place := reference("the name of a place")
	one := of(place, func(place string, to *[]string) { *to = []string{place} })
	tiers := listOf("places, or of lists of equal places", 1, either(one, setOf("places", 1, place)))
	return either(
		of(word(choice[bool]{"nearest", true}), func(nearest bool, to *Rule) { to.Nearest = nearest }),
		part(tiers, func(to *Rule) *[][]string { return &to.To }),
	)
}

func servicesForm() form[[]Service] {
	return named("services by name", ownName, func(n *node) Service { return Service{Name: n.name} }, serviceForm())
}

func serviceForm() form[Service] {
	stage := word(choice[Stage]{"partners", StagePartners}, choice[Stage]{"geo", StageGeo}, choice[Stage]{"datacenters", StageDatacenters})
	return object("check, ttl, steer, map, answer, pick, all_down, at …",
		key("check", "How the endpoints are probed. Default: they always count as healthy.", reference("the name of a check"), func(s *Service) *string { return &s.Check }),
		key("ttl", "TTL of the answers in seconds.", seconds(1, maxTTL), func(s *Service) *uint32 { return &s.TTL }).or("60"),
		key("ttl_min", "Least TTL, while a verdict may change soon. Default: half of ttl, at least 1.", seconds(1, maxTTL), func(s *Service) *uint32 { return &s.TTLMin }),
		key("steer", "Stages by which places are looked for, in order.", setOf("stages", 1, stage), func(s *Service) *[]Stage { return &s.Steer }).or("[partners, geo, datacenters]"),
		key("map", "Map of the geo stage. Default: nearest by distance.", reference("the name of a map"), func(s *Service) *string { return &s.Map }),
		key("answer", "How many places of the winning tier one answer gives, or all.", answerForm(), func(s *Service) *int { return &s.Answer }).or("1"),
		key("pick", "How places are taken from a tier: at random by weight for each query, or by hash of the client's network.",
			word(choice[Pick]{"weighted", PickWeighted}, choice[Pick]{"hash", PickHash}), func(s *Service) *Pick { return &s.Pick }).or("weighted"),
		key("all_down", "What is answered when nothing serves: as if all were up, no data, SERVFAIL, or these addresses.", allDownForm(), func(s *Service) *AllDown { return &s.AllDown }).or("serve"),
		key("max_addresses", "Most addresses in one answer.", number[int](1, 255), func(s *Service) *int { return &s.MaxAddresses }).or("16"),
		key("at", "Places that give this service, and their addresses.", atForm(), func(s *Service) *[]Member { return &s.At }).required(),
	)
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

// noWeight marks a member that gives no weight until its place's is known.
const noWeight = -1

func atForm() form[[]Member] {
	full := object("addresses, weight, check, min_healthy",
		key("addresses", "Addresses of the service in this place.", addresses(), func(m *Member) *[]netip.Addr { return &m.Addresses }).required(),
		key("weight", "Weight of this place for this service. Default: the place's.", weight(), func(m *Member) *int { return &m.Weight }),
		key("check", "How these addresses are probed. Default: the service's check.", reference("the name of a check"), func(m *Member) *string { return &m.Check }),
		key("min_healthy", "With fewer healthy addresses, as a number or a part such as 50%, the place is withdrawn.", share(), func(m *Member) *Share { return &m.MinHealthy }).or("1"),
	)
	short := part(addresses(), func(m *Member) *[]netip.Addr { return &m.Addresses })
	member := either(short, full)
	member.fill = full.fill
	read := member.read
	member.read = func(r *reader, n *node, to *Member) {
		full.fill(r, to)
		read(r, n, to)
	}
	at := named("places and their addresses", ownName, func(n *node) Member { return Member{Place: n.name, Weight: noWeight} }, member)
	return atLeastOne(at, "names no place: give at least one")
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
