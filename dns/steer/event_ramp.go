package steer

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"gslb/config"
)

// comeback is a ramp of one place, for all the services to which it comes back at the same time.
type comeback struct {
	place         string
	start, length int64
}

// comebacks gives the ramps that run, in the order of the configuration, and the services of each.
func (s *Snapshot) comebacks() (order []comeback, services map[comeback][]string) {
	if s == nil || s.ramps == nil {
		return nil, nil
	}
	services = map[comeback][]string{}
	p := s.in.Policy
	for _, r := range p.ramps {
		running := s.rampOf(r.service, r.member)
		if running.length == 0 {
			continue
		}
		svc := &p.services[r.service]
		c := comeback{p.places[svc.members[r.member].place].name, running.start, running.length}
		if services[c] == nil {
			order = append(order, c)
		}
		services[c] = append(services[c], svc.name)
	}
	return order, services
}

// diffRamps tells of places that begin to come back, and of those that have all of their clients again.
func diffRamps(old, now *Snapshot) []Event {
	before, was := old.comebacks()
	after, is := now.comebacks()
	var events []Event
	for _, c := range after {
		if was[c] == nil {
			how := fmt.Sprintf("takes its clients back over %s: ", config.Duration(time.Duration(c.length)))
			events = append(events, c.event(how, is[c]))
		}
	}
	for _, c := range before {
		if back := now.backFrom(c, gone(was[c], is[c])); len(back) > 0 {
			events = append(events, c.event("has all of its clients back: ", back))
		}
	}
	return events
}

// gone gives what was there and is not any more.
func gone(was, is []string) []string {
	if slices.Equal(was, is) {
		return nil
	}
	still := make(map[string]bool, len(is))
	for _, word := range is {
		still[word] = true
	}
	return slices.DeleteFunc(slices.Clone(was), func(word string) bool { return still[word] })
}

// backFrom gives those of the services to which a place has come back by now, as it was about to: in time, or before
// that, since nobody else serves them.
func (s *Snapshot) backFrom(c comeback, services []string) []string {
	if !s.in.Now.Before(time.Unix(0, c.start+c.length)) {
		return services
	}
	var back []string
	for _, service := range services {
		t, known := s.in.Tenures.of(tenureName(service, c.place))
		if known && !t.Out && t.Since.UnixNano() == c.start && !t.Until.IsZero() && !s.in.Now.Before(t.Until) {
			back = append(back, service)
		}
	}
	return back
}

// mostNamed bounds how many services an event names.
const mostNamed = 6

func (c comeback) event(what string, services []string) Event {
	words := strings.Join(services[:min(len(services), mostNamed)], ", ")
	if more := len(services) - mostNamed; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return Event{Kind: "place", Text: c.place + " " + what + words, Attrs: []slog.Attr{slog.String("place", c.place)}}
}
