package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// TooFewPlaces gives a problem for every service that the drains which hold at a time leave with fewer places than
// its min_places. Places that only partners' clients get do not count, unless the service has no others. A
// drain with force is not held against the rule, whatever place it takes. Health is apart: the rule is about
// what operators do, and must not hinder a repair.
func (c *Config) TooFewPlaces(now time.Time) Problems {
	return c.tooFew(now, nil, func(d Drain) bool { return d.Force == "" })
}

// RefusesDrain gives a problem for every service that one more drain would leave with too few places, all
// drains counted: those with force, too. There is none when the drain itself carries force.
func (c *Config) RefusesDrain(d Drain, now time.Time) Problems {
	if d.Force != "" {
		return nil
	}
	return c.tooFew(now, &d, func(Drain) bool { return true })
}

// EnoughFrom is when a config that [Config.TooFewPlaces] refuses is to be judged again: at the first end of drains that leaves
// nothing to refuse. It is the zero time when nothing is refused now, or no such end will come.
func (c *Config) EnoughFrom(now time.Time) time.Time {
	if len(c.TooFewPlaces(now)) == 0 {
		return time.Time{}
	}
	var ends []time.Time
	for _, d := range c.Drains {
		if !d.Until.IsZero() && !d.Over(now) {
			ends = append(ends, d.Until)
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	for _, end := range ends {
		if len(c.TooFewPlaces(end)) == 0 {
			return end
		}
	}
	return time.Time{}
}

// tooFew judges by the drains that count, and one more, if there is one: then those services only that it is for.
func (c *Config) tooFew(now time.Time, more *Drain, counts func(Drain) bool) Problems {
	var held []Drain
	for _, d := range c.Drains {
		if !d.Over(now) && counts(d) {
			held = append(held, d)
		}
	}
	if more != nil {
		held = append(held, *more)
	}
	partnersOnly := c.partnersOnly()
	var problems Problems
	for _, s := range c.Services {
		if s.MinPlaces == 0 || more != nil && !more.touches(s) {
			continue
		}
		places := s.open(partnersOnly)
		left, drained := apart(s, places, held)
		if left >= s.MinPlaces || len(places) < s.MinPlaces { // the second is told by itself
			continue
		}
		path := "services." + s.Name + ".min_places"
		problems = append(problems, Problem{Pos: c.At(path), Path: path, Message: fmt.Sprintf(
			"%s left, and there must be %d: %s; end a drain, or say why it must be by its force key", plural(left, "place"), s.MinPlaces, strings.Join(drained, ", "))})
	}
	return problems
}

// partnersOnly tells of every place whether only partners' clients get it.
func (c *Config) partnersOnly() map[string]bool {
	only := make(map[string]bool, len(c.Places))
	for _, p := range c.Places {
		only[p.Name] = p.PartnersOnly
	}
	return only
}

// touches tells whether a drain takes a place from a service.
func (d Drain) touches(s Service) bool {
	return (d.Service == "" || d.Service == s.Name) && s.gives(d.Target)
}

// open gives the places of a service that any client can be sent to; all of them when there is none.
func (s Service) open(partnersOnly map[string]bool) []string {
	var open, all []string
	for _, m := range s.At {
		all = append(all, m.Place)
		if !partnersOnly[m.Place] {
			open = append(open, m.Place)
		}
	}
	if open == nil {
		return all
	}
	return open
}

// apart counts the places that no drain takes, and names the others with where their drain stands.
func apart(s Service, places []string, held []Drain) (left int, drained []string) {
	for _, place := range places {
		i := slices.IndexFunc(held, func(d Drain) bool { return d.Target == place && d.touches(s) })
		switch {
		case i < 0:
			left++
		case held[i].Pos == Pos{}:
			drained = append(drained, place+" would be drained")
		default:
			drained = append(drained, fmt.Sprintf("%s is drained at %s", place, held[i].Pos))
		}
	}
	return left, drained
}

// minPlaces checks that a service has as many places as there must be.
func (k *checker) minPlaces(path string, s Service) {
	if n := len(s.open(k.partnersOnly)); n < s.MinPlaces && k.sound(path, "at", "min_places") {
		k.error(path+".min_places", "%d is more than the %s of the service that any client can be sent to", s.MinPlaces, plural(n, "place"))
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
