package config

import "net/netip"

func mapsForm() form[[]Map] {
	rules := part(listOf("rules", 1, ruleForm()), func(m *Map) *[]Rule { return &m.Rules })
	return named("lists of rules by name", ownName, func(n *node) Map { return Map{Name: n.name} }, rules)
}

func ruleForm() form[Rule] {
	return object("country, region, continent, city, asn, networks, networks_file, to",
		key("country", "Two letters (ISO 3166-1).", text("a country of two capital letters such as RU", `^[A-Z]{2}$`), func(r *Rule) *string { return &r.Country }),
		key("region", "The part after the dash of ISO 3166-2; needs country.", freeText("a region such as NVS", `^[A-Z0-9]{1,3}$`), func(r *Rule) *string { return &r.Region }),
		key("continent", "Two letters.", words("AF", "AN", "AS", "EU", "NA", "OC", "SA"), func(r *Rule) *string { return &r.Continent }),
		key("city", "English name of a city, where the database has it.", anything("the name of a city"), func(r *Rule) *string { return &r.City }),
		key("asn", "Autonomous system of the client.", asn(), func(r *Rule) *uint32 { return &r.ASN }),
		key("networks", "Networks of the client.", setOf("networks", 1, prefix()), func(r *Rule) *[]netip.Prefix { return &r.Networks }),
		key("networks_file", "File of more networks of the client, one a line, # comments; watched.", filePath("the path of a file"), func(r *Rule) *string { return &r.NetworksFile }),
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
