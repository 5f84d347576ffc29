package steer

import (
	"fmt"
	"log/slog"
	"slices"

	"gslb/config"
)

// diffServices tells of places of several endpoints that fell or rose as a whole, and of services
// that nobody gives any more.
func diffServices(old, now *Snapshot, services []int) []Event {
	before := old.states(now)
	var events []Event
	for _, i := range services {
		svc := now.state(i)
		prev, known := before(i)
		events = append(events, diffPlaces(prev, svc)...)
		was, is := byStanding, svc.served()
		if known {
			was = prev.served()
		}
		if was == is {
			continue
		}
		event := Event{Kind: "service", Grave: is != byStanding, Attrs: []slog.Attr{slog.String("service", svc.name)}}
		switch is {
		case byStanding:
			event.Text = svc.name + ": served again"
		case withDrained:
			event.Text = svc.name + ": nobody serves, answered from drained places"
		default:
			event.Text = svc.name + ": nobody serves, answered by all_down: " + allDownWord(svc.allDown)
		}
		events = append(events, event)
	}
	return events
}

// serviceState is how a service stands in one snapshot.
type serviceState struct {
	s *Snapshot
	*Service
	standing []standing
}

// state is how a service stands.
func (s *Snapshot) state(service int) serviceState {
	return serviceState{s, &s.in.Policy.services[service], s.standings.of(service)}
}

// states finds how the services of a newer snapshot stood before, by their numbers there.
func (s *Snapshot) states(now *Snapshot) func(service int) (serviceState, bool) {
	switch {
	case s == nil:
		return func(int) (serviceState, bool) { return serviceState{}, false }
	case s.in.Policy == now.in.Policy:
		return func(i int) (serviceState, bool) { return s.state(i), true }
	}
	known := make(map[string]int, len(s.in.Policy.services))
	for i := range s.in.Policy.services {
		known[s.in.Policy.services[i].name] = i
	}
	return func(i int) (serviceState, bool) {
		before, ok := known[now.in.Policy.services[i].name]
		if !ok {
			return serviceState{}, false
		}
		return s.state(before), true
	}
}

// diffPlaces leaves out places of one endpoint: of these the endpoint's own event tells everything.
func diffPlaces(old, now serviceState) []Event {
	var events []Event
	for i, m := range now.members {
		if len(m.endpoints) < 2 {
			continue
		}
		place, st := now.s.in.Policy.places[m.place].name, &now.standing[i]
		if old.healthy(place) == st.healthy {
			continue
		}
		what := "restored"
		if !st.healthy {
			what = "withdrawn"
		}
		up := len(st.up[IPv4]) + len(st.up[IPv6])
		events = append(events, Event{
			Kind: "place", Grave: !st.healthy,
			Text:  fmt.Sprintf("%s %s for %s: %d of %d endpoints healthy", place, what, now.name, up, len(m.endpoints)),
			Attrs: []slog.Attr{slog.String("place", place), slog.String("service", now.name)},
		})
	}
	return events
}

// healthy tells whether a place was healthy for the service; one that was not there yet counts as such.
func (s serviceState) healthy(place string) bool {
	if s.Service == nil {
		return true
	}
	for i, m := range s.members {
		if s.s.in.Policy.places[m.place].name == place {
			return s.standing[i].healthy
		}
	}
	return true
}

// anybody tells whether some place serves.
func (s serviceState) anybody() bool { return s.served() == byStanding }

// served gives the mode in which there is a place that any client can be sent to, or, for a service
// that only partners' clients get, any place at all, with an address of the service's main family:
// healthIgnored when only all_down is left.
func (s serviceState) served() mode {
	for _, m := range []mode{byStanding, withDrained} {
		for i, member := range s.members {
			if st := &s.standing[i]; s.open(member.place) && st.offers.has(m, s.Main()) {
				return m
			}
		}
	}
	return healthIgnored
}

// open tells whether any client can be sent to a place of the service; where only partners' clients get one, all
// places count.
func (s serviceState) open(place placeID) bool {
	return len(s.places.rest) == 0 || slices.Contains(s.places.rest[0], place)
}

func allDownWord(a config.AllDown) string {
	switch a.Mode {
	case config.AllDownNodata:
		return "nodata"
	case config.AllDownServfail:
		return "servfail"
	case config.AllDownAddresses:
		return fmt.Sprint(a.Addresses)
	}
	return "serve"
}
