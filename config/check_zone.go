package config

import (
	"fmt"
	"strings"
)

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
		k.transfer(z)
		if z.DNSSEC != nil && z.DNSSEC.Denial == DenialCompact && z.Transfer != nil {
			k.error(z.Path+".dnssec.denial", "must not be compact for a zone with transfers: a secondary could deny nothing")
		}
	}
}

// transfer judges who may have a zone as a whole. The keys get the spelling of their file.
func (k *checker) transfer(z Zone) {
	if z.Transfer == nil {
		return
	}
	path := z.Path + ".transfer"
	if len(z.Transfer.Allow) == 0 && len(z.Transfer.Keys) == 0 {
		k.error(path, "names nobody: give allow, keys or both")
	}
	for i := range z.Transfer.Keys {
		z.Transfer.Keys[i] = keyName(z.Transfer.Keys[i])
	}
	for i := range z.Transfer.Notify {
		s := &z.Transfer.Notify[i]
		if s.Key != "" {
			s.Key = keyName(s.Key)
		}
		if s.Source.IsValid() && s.Source.Is4() != s.Address.Addr().Is4() {
			k.error(fmt.Sprintf("%s.notify[%d].source", path, i), "is of another family than the secondary %s", s.Address.Addr())
		}
	}
}

// keyName is the name of a key in the spelling of its file.
func keyName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) + "." }

// transferKeys judges the keys of transfers, once those of the file are known.
func (c *Config) transferKeys() Problems {
	known := map[string]bool{}
	for _, key := range c.Server.TSIGKeys {
		known[key.Name] = true
	}
	var problems Problems
	judge := func(name, path string) {
		if !known[name] {
			problems = append(problems, Problem{Pos: c.At(path), Path: path, Message: fmt.Sprintf("%s is no key of server.tsig_keys", name)})
		}
	}
	for _, z := range c.Zones {
		if z.Transfer == nil {
			continue
		}
		for i, name := range z.Transfer.Keys {
			judge(name, fmt.Sprintf("%s.transfer.keys[%d]", z.Path, i))
		}
		for i, s := range z.Transfer.Notify {
			if s.Key != "" {
				judge(s.Key, fmt.Sprintf("%s.transfer.notify[%d].key", z.Path, i))
			}
		}
	}
	return problems
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
