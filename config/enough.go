package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// TooFewPlaces gives a problem for every service that the drains which hold at a time, and what is down by hand, leave
// with fewer places than its min_places. Places that only partners' clients get do not count, unless the service
// has no others. A place that is drained with force is not held against the rule. Health is apart: the rule is
// about what operators do, and must not hinder a repair.
func (c *Config) TooFewPlaces(now time.Time) Problems {
	return c.tooFew(now, nil, func(d Drain) bool { return d.Force == "" })
}

// RefusesDrain gives a problem for every service that one more drain would leave with too few places, all
// drains counted, those with force, too, and all that is down by hand. There is none when the drain itself carries force.
func (c *Config) RefusesDrain(d Drain, now time.Time) Problems {
	if d.Force != "" {
		return nil
	}
	return c.tooFew(now, &d, func(Drain) bool { return true })
}

// EnoughFrom is when a config that [Config.TooFewPlaces] refuses is to be judged again: at the first end of drains that
// leaves nothing to refuse. It is the zero time when nothing is refused now, or no such end will come.
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
	e := enough{c: c, places: make(map[string]Place, len(c.Places))}
	for _, p := range c.Places {
		e.places[p.Name] = p
	}
	for _, d := range c.Drains {
		switch {
		case d.Over(now):
		case counts(d):
			e.held = append(e.held, d)
		default:
			e.excused = append(e.excused, d)
		}
	}
	if more != nil {
		e.held = append(e.held, *more)
	}
	partnersOnly := c.partnersOnly()
	var problems Problems
	for _, s := range c.Services {
		if s.MinPlaces == 0 || more != nil && !more.touches(s) {
			continue
		}
		places := s.open(partnersOnly)
		left, taken := e.apart(s, places)
		if left >= s.MinPlaces || len(places) < s.MinPlaces { // the second is told by itself
			continue
		}
		path := "services." + s.Name + ".min_places"
		problems = append(problems, Problem{Pos: c.At(path), Path: path, Message: fmt.Sprintf(
			"%s left, and there must be %d: %s; end a drain, or say why it must be by its force key", plural(left, "place"), s.MinPlaces, strings.Join(taken, ", "))})
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

// enough is what the rule is judged by.
type enough struct {
	c       *Config
	places  map[string]Place
	held    []Drain // that take places
	excused []Drain // that do not, nor does a state by hand of theirs
}

// apart counts the places that nothing takes, and names the others, with where their drain stands, or their state.
func (e *enough) apart(s Service, places []string) (left int, taken []string) {
	for _, place := range places {
		if i := takes(e.held, s, place); i >= 0 {
			how := " would be drained"
			if e.held[i].Pos != (Pos{}) {
				how = fmt.Sprintf(" is drained at %s", e.held[i].Pos)
			}
			taken = append(taken, place+how)
			continue
		}
		if at, down := e.downByHand(s, place); down && takes(e.excused, s, place) < 0 {
			taken = append(taken, fmt.Sprintf("%s is down by hand at %s", place, at))
			continue
		}
		left++
	}
	return left, taken
}

// downByHand tells whether states by hand keep a place out of a service, since they leave fewer endpoints than must be
// healthy, and where that is said: of the place as a whole, or else in the service.
func (e *enough) downByHand(s Service, place string) (at Pos, down bool) {
	p := e.places[place]
	m := s.At[slices.IndexFunc(s.At, func(m Member) bool { return m.Place == place })]
	if p.State == StateDown {
		at = e.c.At(keyPath(keyPath(p.Kind.section(), place), "state"))
	} else {
		at = e.c.At(keyPath(keyPath(keyPath("services", s.Name), "at"), place))
	}
	if m.Host != nil {
		return at, p.State == StateDown
	}
	up := 0
	for _, endpoint := range m.Endpoints {
		if cmp.Or(endpoint.State, p.State) != StateDown {
			up++
		}
	}
	return at, up < len(m.Endpoints) && up < m.MinHealthy.Of(len(m.Endpoints))
}

// takes finds the first of some drains that takes a place from a service; -1: none does.
func takes(drains []Drain, s Service, place string) int {
	return slices.IndexFunc(drains, func(d Drain) bool { return d.Target == place && d.touches(s) })
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
