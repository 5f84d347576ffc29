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
	places := make(map[string]Place, len(c.Places))
	for i := range c.Places {
		p := &c.Places[i]
		if p.DegradedWeight == noWeight {
			p.DegradedWeight = p.Weight
		}
		places[p.Name] = *p
	}
	for i := range c.Services {
		finishService(&c.Services[i], places)
	}
}

func finishService(s *Service, places map[string]Place) {
	if s.TTLMin == 0 {
		s.TTLMin = max(1, s.TTL/2)
	}
	defer func() { s.Ramp = max(0, s.Ramp) }()
	for i := range s.At {
		m := &s.At[i]
		switch {
		case m.DegradedWeight != noWeight:
		case m.Weight != noWeight:
			m.DegradedWeight = m.Weight
		default:
			m.DegradedWeight = places[m.Place].DegradedWeight
		}
		if m.Weight == noWeight {
			m.Weight = places[m.Place].Weight
		}
		if m.Ramp == noRamp {
			m.Ramp = s.Ramp
		}
		if m.Ramp == noRamp {
			m.Ramp = places[m.Place].Ramp
		}
		if m.Checks == nil {
			m.Checks = s.Checks
		}
	}
}
