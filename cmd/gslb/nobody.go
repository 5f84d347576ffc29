package main

import (
	"fmt"
	"strings"

	"gslb/config"
	"gslb/geo"
)

// knowledge is what the records of a geo map can tell of a client, each kind by the words that rules have for it.
type knowledge struct {
	name                                        string // of the map
	countries, regions, continents, cities, asn map[string]bool
}

func knowledgeOf(world *geo.Map) knowledge {
	k := knowledge{
		name: world.Name(), countries: map[string]bool{}, regions: map[string]bool{}, continents: map[string]bool{},
		cities: map[string]bool{}, asn: map[string]bool{},
	}
	for i := range world.Len() {
		l := world.Location(uint32(i))
		k.countries[l.Country], k.continents[l.Continent], k.cities[strings.ToLower(l.City)] = true, true, true
		k.regions[within(l.Country, l.Region)] = true
		k.asn[systemText(l.ASN)] = true
	}
	for _, words := range []map[string]bool{k.countries, k.continents, k.cities, k.regions, k.asn} {
		delete(words, "") // unknown
	}
	return k
}

// fitNobody warns of the rules of maps that ask for what the geo map has not: a city on a map of countries,
// or one whose name is written otherwise there. No client ever fits such a rule.
func fitNobody(cfg *config.Config, world *geo.Map) config.Problems {
	if len(cfg.Maps) == 0 {
		return nil
	}
	k := knowledgeOf(world)
	var problems config.Problems
	for _, m := range cfg.Maps {
		for i, r := range m.Rules {
			for key, message := range k.misses(r) {
				path := fmt.Sprintf("maps.%s[%d].%s", m.Name, i, key)
				problems = append(problems, config.Problem{Pos: cfg.At(path), Path: path, Message: message, Warning: true})
			}
		}
	}
	return problems.Sorted()
}

// misses gives the keys of a rule that ask for what is not known, and says so.
func (k knowledge) misses(r config.Rule) map[string]string {
	misses := map[string]string{}
	for _, asked := range []struct {
		key, word string
		known     map[string]bool
		all       string
	}{
		{"continent", r.Continent, k.continents, "continents"},
		{"country", r.Country, k.countries, "countries"},
		{"region", within(r.Country, r.Region), k.regions, "regions"},
		{"city", strings.ToLower(r.City), k.cities, "cities"},
		{"asn", systemText(r.ASN), k.asn, "autonomous systems, which are told by that of geo.asn"},
	} {
		switch {
		case asked.word == "" || asked.known[asked.word]:
		case len(asked.known) == 0:
			misses[asked.key] = fmt.Sprintf("fits nobody: the geo database %s knows no %s", k.name, asked.all)
		default:
			misses[asked.key] = fmt.Sprintf("fits nobody: the geo database %s has none like this", k.name)
		}
	}
	return misses
}

// within names a region as [knowledge] does; "" for none.
func within(country, region string) string {
	if region == "" {
		return ""
	}
	return country + "-" + region
}

// systemText is an autonomous system as a word; "" for none.
func systemText(asn uint32) string {
	if asn == 0 {
		return ""
	}
	return fmt.Sprint(asn)
}
