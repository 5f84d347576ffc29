package config

import "strings"

// zones judges every zone: no name twice, and every service known.
func (k *checker) zones() {
	first := map[string]string{}
	for _, z := range k.c.Zones {
		if earlier := first[z.Name]; earlier != "" {
			k.error(z.Path, "is the zone %s again: first at %s", z.Name, k.c.At(earlier))
		} else {
			first[z.Name] = z.Path
		}
		k.zoneServices(z)
	}
}

func (k *checker) zoneServices(z Zone) {
	first := map[string]string{}
	for _, s := range z.Services {
		path := keyPath(z.Path+".services", s.Name)
		k.refer(path, s.Service, k.services)
		name := absolute(s.Name, z.Name)
		if earlier := first[name]; earlier != "" {
			k.error(path, "is the name %s again: first at %s", name, k.c.At(earlier))
			continue
		}
		first[name] = path
	}
}

// absolute is a name of a zone in lower case and with a final dot.
func absolute(name, zone string) string {
	name = strings.ToLower(name)
	switch {
	case name == "@":
		return zone
	case strings.HasSuffix(name, "."):
		return name
	}
	return name + "." + zone
}
