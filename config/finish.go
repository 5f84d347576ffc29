package config

import (
	"cmp"
	"slices"
)

// finish fills the defaults that depend on other values.
func finish(c *Config) {
	slices.SortStableFunc(c.Places, func(a, b Place) int { return cmp.Compare(a.Kind, b.Kind) })
	for i := range c.Checks {
		if ch := &c.Checks[i]; ch.Timeout == 0 {
			ch.Timeout = ch.Interval / 2
		}
	}
	weights := make(map[string]int, len(c.Places))
	for _, p := range c.Places {
		weights[p.Name] = p.Weight
	}
	for i := range c.Services {
		finishService(&c.Services[i], weights)
	}
}

func finishService(s *Service, weights map[string]int) {
	if s.TTLMin == 0 {
		s.TTLMin = max(1, s.TTL/2)
	}
	for i := range s.At {
		m := &s.At[i]
		if m.Weight == noWeight {
			m.Weight = weights[m.Place]
		}
		if m.Check == "" {
			m.Check = s.Check
		}
	}
}
