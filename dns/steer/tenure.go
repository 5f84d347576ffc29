package steer

import (
	"iter"
	"maps"
	"time"
)

// Tenure tells since when a place is given to the clients of a service, or is kept out of its answers. The
// zero value is a place that has been there from the beginning. It encodes as JSON.
type Tenure struct {
	Out   bool      `json:"out"`
	Since time.Time `json:"since,omitzero"`
}

// Tenures is what a server remembers of its places, so that one which comes back takes its clients step by
// step: the tenures of all members for which the configuration has a ramp. It is immutable; nil is that
// of a server that remembers nothing.
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

func (t *Tenures) of(name string) (Tenure, bool) {
	if t == nil {
		return Tenure{}, false
	}
	is, known := t.by[name]
	return is, known
}

func (t *Tenures) len() int {
	if t == nil {
		return 0
	}
	return len(t.by)
}

// memberName names a member as [Tenures] does.
func (p *Policy) memberName(r ramping) string {
	svc := &p.services[r.service]
	return svc.name + " " + p.places[svc.members[r.member].place].name
}

// follow gives the tenures at the moment of a snapshot, of which these are the earlier ones, and prev the
// snapshot before it; nil at the start of a process. It gives the same when nothing has changed.
func (t *Tenures) follow(prev, now *Snapshot) *Tenures {
	p := now.in.Policy
	next, changed := map[string]Tenure{}, len(p.ramps) != t.len()
	var before map[string]serviceState
	for _, r := range p.ramps {
		name := p.memberName(r)
		was, known := t.of(name)
		if !known && before == nil {
			before = prev.byName()
		}
		is := now.tenure(r, was, known, before)
		changed = changed || !known || is != was
		next[name] = is
	}
	if !changed {
		return t
	}
	return &Tenures{next}
}

// tenure is that of one member. One of which nothing is known is new to the memory: it has come back, or come, only
// if the service was there before without it.
func (s *Snapshot) tenure(r ramping, was Tenure, known bool, before map[string]serviceState) Tenure {
	p, now := s.in.Policy, s.in.Now.Round(0) // without the clock of this process: it is saved
	svc := &p.services[r.service]
	switch serving := byStanding.allows(&s.standing[r.service][r.member]); {
	case !serving && known && was.Out:
		return was
	case !serving:
		return Tenure{Out: true, Since: now}
	case known && was.Out:
		return Tenure{Since: now}
	case known && was.Since.After(now): // the clock was set back: nobody waits for it to come there again
		return Tenure{Since: now}
	case known:
		return was
	}
	if prev, there := before[svc.name]; there && !prev.serves(p.places[svc.members[r.member].place].name) {
		return Tenure{Since: now}
	}
	return Tenure{}
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
