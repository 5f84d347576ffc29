package steer

import (
	"iter"
	"maps"
	"time"
)

// Tenure tells since when a place is out of the answers of a service, or since when it comes back. It encodes
// as JSON.
type Tenure struct {
	Out   bool      `json:"out"`
	Since time.Time `json:"since"`
}

// Tenures is what a server remembers of its places, so that one which comes back takes its clients step by
// step: of the members for which the configuration has a ramp, those that are out and those that come back. All others
// have been there for long. It is immutable; nil is that of a server that remembers nothing.
type Tenures struct{ by map[string]Tenure }

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
	return t.with(t.turns(prev, now, moment))
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
