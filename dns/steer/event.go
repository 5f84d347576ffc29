package steer

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	"gslb/config"
	"gslb/health"
)

// Event is a change that an operator wants to know of, in words. One event makes a line of the
// log, an entry of the journal and, by its kind, a count of the metrics.
type Event struct {
	Kind  string // endpoint, place, service, drain, state, brake, config or geo
	Text  string
	Grave bool // somebody may have to act
	Attrs []slog.Attr
}

// Diff tells what happened between two snapshots of one server. The first snapshot of a server has
// no earlier one: then it tells what is amiss from the start.
func Diff(old, now *Snapshot) []Event {
	var events []Event
	if old != nil {
		events = append(events, diffInputs(old, now)...)
	}
	events = append(events, diffBrake(old, now)...)
	events = append(events, diffDrains(old, now)...)
	events = append(events, diffHands(old, now)...)
	services := now.touched(old)
	events = append(events, diffEndpoints(old, now, services)...)
	events = append(events, diffServices(old, now, services)...)
	return append(events, diffRamps(old, now)...)
}

// touched gives the services of which there may be something to tell: where the policy stayed, those that
// something changed for.
func (s *Snapshot) touched(old *Snapshot) []int {
	if old != nil && old.in.Policy == s.in.Policy {
		return s.Changed(old)
	}
	all := make([]int, len(s.in.Policy.services))
	for i := range all {
		all[i] = i
	}
	return all
}

// diffInputs leaves out the partners' routes: of these the sessions tell.
func diffInputs(old, now *Snapshot) []Event {
	var events []Event
	if v := now.Version(); old.in.Config != now.in.Config {
		events = append(events, Event{Kind: "config", Text: fmt.Sprintf("config %d:%s in force", v.Config, v.Hash)})
	}
	if old.in.Geo != now.in.Geo {
		events = append(events, Event{Kind: "geo", Text: "geo database in force: " + now.in.Geo.Name()})
	}
	return events
}

// diffDrains tells of drains that began and ended. A drain that was only reworded is not new.
func diffDrains(old, now *Snapshot) []Event {
	before, after := old.activeDrains(), now.activeDrains()
	var events []Event
	for _, d := range after {
		if !slices.ContainsFunc(before, d.same) {
			events = append(events, drainEvent(d.Drain, d.word()+d.why()))
		}
	}
	for _, d := range before {
		if slices.ContainsFunc(after, d.same) {
			continue
		}
		what := "no longer " + d.word()
		if slices.ContainsFunc(after, d.within) {
			what += ", but another drain holds"
		}
		events = append(events, drainEvent(d.Drain, what))
	}
	return events
}

type activeDrain struct{ config.Drain }

func (d activeDrain) same(o activeDrain) bool {
	return d.Target == o.Target && d.Service == o.Service && d.Hard == o.Hard
}

// within tells whether everything that d keeps out is kept out by o as well.
func (d activeDrain) within(o activeDrain) bool {
	return d.Target == o.Target && (o.Service == "" || d.Service == o.Service)
}

func (d activeDrain) word() string {
	if d.Hard {
		return "drained hard"
	}
	return "drained"
}

func (d activeDrain) why() string {
	var why []string
	if d.Reason != "" {
		why = append(why, d.Reason)
	}
	if d.By != "" {
		why = append(why, "by "+d.By)
	}
	if d.Force != "" {
		why = append(why, "forced: "+d.Force)
	}
	if !d.Until.IsZero() {
		why = append(why, "until "+d.Until.UTC().Format("2006-01-02T15:04:05Z"))
	}
	if why == nil {
		return ""
	}
	return ": " + strings.Join(why, ", ")
}

func (s *Snapshot) activeDrains() []activeDrain {
	if s == nil {
		return nil
	}
	var active []activeDrain
	for _, d := range s.in.Policy.drains {
		if !d.Over(s.in.Now) {
			active = append(active, activeDrain{d})
		}
	}
	return active
}

func drainEvent(d config.Drain, what string) Event {
	where, attrs := d.Target, []slog.Attr{slog.String("place", d.Target)}
	if d.Service != "" {
		where += "/" + d.Service
		attrs = append(attrs, slog.String("service", d.Service))
	}
	return Event{Kind: "drain", Text: where + " " + what, Attrs: attrs}
}

// diffEndpoints tells of endpoints that were withdrawn and restored: once for each place and
// check, however many services share one.
func diffEndpoints(old, now *Snapshot, services []int) []Event {
	before, is := old.verdicts(now), now.judge()
	var events []Event
	told := map[string]bool{}
	for _, i := range services {
		for j := range now.in.Policy.services[i].members {
			m := &now.in.Policy.services[i].members[j]
			for _, ep := range m.endpoints {
				for n, target := range ep.targets {
					state, check := is.target(target)
					text := turned(before(target), state, check)
					if text == "" {
						continue
					}
					event, address := now.endpointEvent(m, ep, n, text)
					if id := event.Text + address; !told[id] {
						told[id] = true
						events = append(events, event)
					}
				}
			}
		}
	}
	return events
}

// endpointEvent tells of a check of an endpoint, and which address it is of: of the place's where it stands for that as
// a whole.
func (s *Snapshot) endpointEvent(m *member, ep endpoint, check int, what string) (event Event, address string) {
	t := ep.targets[check]
	target, place := s.in.Policy.targets[t], s.in.Policy.places[m.place].name
	state := s.in.Health.Endpoint(target.Key())
	address = m.shown(ep)
	if check >= ep.own {
		ep.address, address = target.Address, target.Address.String()
	}
	attrs := []slog.Attr{slog.String("place", place), slog.String("check", target.Name), slog.String("endpoint", address)}
	if probe, ok := s.in.Policy.probe(ep, t); ok {
		attrs = append(attrs, slog.String("probe", probe.String()))
	}
	return Event{Kind: "endpoint", Text: place + "/" + target.Name + " " + what, Grave: !state.Serving(), Attrs: attrs}, address
}

// verdicts gives what was thought before of a newer snapshot's targets, under whatever content their checks had then.
func (s *Snapshot) verdicts(now *Snapshot) func(target int32) health.Verdict {
	if s == nil {
		return func(int32) health.Verdict { return health.Unknown }
	}
	was := s.judge()
	if s.in.Policy == now.in.Policy {
		return func(t int32) health.Verdict {
			state, _ := was.target(t)
			return state.Verdict
		}
	}
	type thread struct {
		address netip.Addr
		check   string
	}
	before := map[thread]health.Verdict{}
	for i, t := range s.in.Policy.targets {
		state, _ := was.target(int32(i))
		before[thread{t.Address, t.Name}] = state.Verdict
	}
	verdicts := make([]health.Verdict, len(now.in.Policy.targets))
	for i, t := range now.in.Policy.targets {
		verdicts[i] = s.in.Health.Endpoint(t.Key()).Verdict
		if verdicts[i] == health.Unknown {
			verdicts[i] = before[thread{t.Address, t.Name}]
		}
	}
	return func(t int32) health.Verdict { return verdicts[t] }
}

// turned says in words how a verdict turned; "" where it did not.
func turned(before health.Verdict, state health.Endpoint, check health.Check) string {
	switch {
	case before == state.Verdict:
		return ""
	case state.Verdict == health.Withdrawn && state.Results == 0: // restored, with a window that was too old
		return "still withdrawn, last: " + state.Cause
	case state.Verdict == health.Withdrawn:
		return fmt.Sprintf("withdrawn: %d of %d failed, last: %s", state.Failed, check.Window, state.Cause)
	case state.Verdict == health.Up && before == health.Withdrawn:
		return fmt.Sprintf("restored: %d of the last %d succeeded", state.Results-state.Failed, check.Window)
	}
	return ""
}
