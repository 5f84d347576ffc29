package config

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
	return r.Country == "" && r.Continent == "" && r.City == "" && r.ASN == 0 && r.Region == "" && len(r.Networks) == 0 && r.NetworksFile == ""
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
