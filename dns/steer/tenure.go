package steer

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// Tenure tells since when a place is out of the answers of a service, or since when it comes back. It encodes
// as JSON.
type Tenure struct {
	Out   bool      `json:"out"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // when it has come back, if that is before the ramp's length is over; see pace
}

// end is when a place that comes back has all of its clients, by a ramp of this length.
func (t Tenure) end(length time.Duration) time.Time {
	end := t.Since.Add(length)
	if t.Until.IsZero() || end.Before(t.Until) {
		return end
	}
	return t.Until
}

// Tenures is what a server remembers of its places, so that one which comes back takes its clients step by
// step: of the members for which the configuration has a ramp, those that are out and those that come back. All others
// have been there for long. It is immutable; nil is that of a server that remembers nothing.
type Tenures struct{ by map[string]Tenure }

// tenureName names a member of a service among the tenures. Neither name has a space in it.
func tenureName(service, place string) string { return service + " " + place }

// NewTenures gives the tenures by names, as [Tenures.All] gives them.
func NewTenures(by map[string]Tenure) *Tenures { return &Tenures{maps.Clone(by)} }

// All goes over the tenures, in no order. The names are those of the service and the place, with a space between them.
func (t *Tenures) All() iter.Seq2[string, Tenure] {
	if t == nil {
		return maps.All(map[string]Tenure(nil))
	}
	return maps.All(t.by)
}

func (t *Tenures) of(name string) (is Tenure, known bool) {
	if t != nil {
		is, known = t.by[name]
	}
	return is, known
}

// with gives the tenures with some others in their place; a zero one takes away what is there.
func (t *Tenures) with(others map[string]Tenure) *Tenures {
	if len(others) == 0 {
		return t
	}
	all := maps.Collect(t.All())
	for name, is := range others {
		if all[name] = is; is == (Tenure{}) {
			delete(all, name)
		}
	}
	return &Tenures{all}
}

// follow gives the tenures at the moment of a snapshot, of which these are the earlier ones, and prev the
// snapshot before it; nil at the start of a process. It gives the same when nothing has changed.
func (t *Tenures) follow(prev, now *Snapshot) *Tenures {
	p, moment := now.in.Policy, now.in.Now.Round(0) // without the clock of this process: it is saved
	changes := map[string]Tenure{}
	for name, was := range t.All() {
		i, ramps := p.rampOf[name]
		switch {
		case !ramps:
			changes[name] = Tenure{}
		case was.Out:
		case was.Since.After(moment): // the clock was set back: nobody waits for it to come there again
			changes[name] = Tenure{Since: moment}
		case !moment.Before(was.Since.Add(p.ramps[i].length)):
			changes[name] = Tenure{}
		}
	}
	t = t.with(changes)
	t = t.with(t.turns(prev, now, moment))
	if len(changes) > 0 {
		prev = nil // all are looked at
	}
	return t.with(t.pace(prev, now))
}

// turns gives the tenures of the members that leave or come back with a snapshot.
func (t *Tenures) turns(prev, now *Snapshot, moment time.Time) map[string]Tenure {
	p := now.in.Policy
	edited := prev == nil || prev.in.Policy != p
	if !edited && (len(p.ramps) == 0 || &prev.standings[0] == &now.standings[0]) {
		return nil
	}
	before := prev.states(now)
	turns := map[string]Tenure{}
	for _, r := range p.ramps {
		serving := byStanding.allows(&now.standings.of(r.service)[r.member])
		if !edited && serving == byStanding.allows(&prev.standings.of(r.service)[r.member]) {
			continue
		}
		was, remembered := t.of(r.name)
		svc, there := before(r.service)
		switch {
		case !serving && !was.Out:
			turns[r.name] = Tenure{Out: true, Since: moment}
		case serving && was.Out:
			turns[r.name] = Tenure{Since: moment}
		case serving && !remembered && there && !svc.serves(p.places[now.member(r).place].name):
			turns[r.name] = Tenure{Since: moment} // it came with an edit, or had no ramp when it left
		}
	}
	return turns
}

// serves tells whether a place was there and served.
func (s serviceState) serves(place string) bool {
	for i, m := range s.members {
		if s.s.in.Policy.places[m.place].name == place {
			return byStanding.allows(&s.standing[i])
		}
	}
	return false
}

// pace shortens the ramps of services that nobody serves but places that come back themselves. The one that was first
// carries everybody, so it has come back; any other takes as long as the first was ahead of it. So places that
// recover together share their clients at once, and one that recovers much later takes them over step by step.
func (t *Tenures) pace(prev, now *Snapshot) map[string]Tenure {
	changes := map[string]Tenure{}
	for service, back := range t.returning(prev, now) {
		first, settled := t.first(now.state(service), back)
		if settled {
			continue
		}
		for _, r := range back {
			is, _ := t.of(r.name)
			until := is.Since
			if !first.IsZero() && first.Before(is.Since) {
				until = is.Since.Add(is.Since.Sub(first).Truncate(time.Second))
			}
			if until.Before(is.end(r.length)) {
				is.Until = until
				changes[r.name] = is
			}
		}
	}
	return changes
}

// returning goes over the services that stand otherwise than before, and their members that come back, if any do.
func (t *Tenures) returning(prev, now *Snapshot) iter.Seq2[int, []ramping] {
	p := now.in.Policy
	return func(yield func(int, []ramping) bool) {
		if t == nil || len(t.by) == 0 {
			return
		}
		var services []int
		if prev != nil && prev.in.Policy == p {
			services = now.Changed(prev)
		} else {
			for _, r := range p.ramps {
				if len(services) == 0 || services[len(services)-1] != r.service {
					services = append(services, r.service)
				}
			}
		}
		for _, service := range services {
			if back := t.back(p.rampsOf(service)); len(back) > 0 && !yield(service, back) {
				return
			}
		}
	}
}

// back gives those of some members that come back.
func (t *Tenures) back(members []ramping) (back []ramping) {
	for _, r := range members {
		if is, known := t.of(r.name); known && !is.Out {
			back = append(back, r)
		}
	}
	return back
}

// first gives since when the first of the members of a service that come back does so, of those that any client can
// be sent to; zero when there is none. It is no matter when a member serves that does not come back: settled.
func (t *Tenures) first(s serviceState, back []ramping) (first time.Time, settled bool) {
	for i, m := range s.members {
		if !s.open(m.place) || !s.standing[i].offers.has(byStanding, s.Main()) {
			continue
		}
		at := slices.IndexFunc(back, func(r ramping) bool { return r.member == i })
		if at < 0 {
			return time.Time{}, true
		}
		if is, _ := t.of(back[at].name); first.IsZero() || is.Since.Before(first) {
			first = is.Since
		}
	}
	return first, false
}
