package health

import (
	"net/netip"
	"slices"
	"time"
)

// Brake is whether verdicts are held. When endpoints of several failure domains begin to fail at once and almost none
// answers, the fault is more likely ours than theirs: our network, our name server, our machine. Then nobody is
// withdrawn until somebody answers again. It is a comparable value; the zero value is a brake that is off.
type Brake struct {
	On      bool
	Since   time.Time // when it came on; zero when it is off
	Failing int       // endpoints that failed when it came on
	Of      int       // of so many that had told anything
}

// Bounds of what the brake takes for a common fault. Fewer endpoints, or those of one place, may well fail
// together.
const (
	brakeEndpoints = 4 // addresses
	brakeDomains   = 2
	surelyWell     = 3 // successes in a row after which failures before them are of the past
)

// bearing is what the brake wants to know of a key beside its endpoint.
type bearing struct {
	domain    string
	reference bool
}

// Arm sets the share of failing endpoints, in percent, at which the brake begins to hold. 0, as at first, is never.
func (b *Board) Arm(percent int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.percent = percent
	b.reconsider(now)
}

// brakes tells whether the verdict of an endpoint that the rule would withdraw is held. The caller holds mu, and
// has taken the newest result in.
func (b *Board) brakes(k Key, e Endpoint, now time.Time) bool {
	if b.brake.On || b.percent == 0 {
		return b.brake.On
	}
	failures := k.Check().Rule().Fall
	if e.Verdict == Unknown {
		failures = k.Check().Rule().firstFall()
	}
	began := now.Add(-time.Duration(failures-1) * k.Check().Interval)
	t := b.tally(began, now)
	if !t.common(b.percent) {
		return false
	}
	b.began = began
	b.brake = Brake{On: true, Since: now, Failing: t.failing, Of: t.failing + t.well}
	b.touch()
	return true
}

// reconsider takes the brake off when it has no reason to hold any more. The failures of the time while it was on
// are held against nobody: the windows of all that serve begin anew, so that nobody is withdrawn for what was
// ours, and nobody owes successes. The caller holds mu.
func (b *Board) reconsider(now time.Time) {
	if !b.brake.On || b.percent > 0 && b.common(now) {
		return
	}
	b.brake = Brake{}
	for i := range b.slots {
		if s := &b.slots[i]; s.endpoint.Serving() {
			s.endpoint = s.endpoint.under(b.roster.keys[i].Check())
			b.outdated[i/pageSize] = true
		}
	}
	b.touch()
}

// common tells whether the failures for which the brake came on go on. The caller holds mu.
func (b *Board) common(now time.Time) bool {
	t := b.tally(b.began, now)
	return t.common(b.percent)
}

// tally is what endpoints have told since a moment.
type tally struct {
	failing, well int
	addresses     [brakeEndpoints]netip.Addr // of the failing, each once
	domains       [brakeDomains]string       // of the failing, each once
	n, d          int                        // how many of these there are
	answered      bool                       // by a reference
}

// common tells whether the failures look like one fault of ours.
func (t *tally) common(percent int) bool {
	return !t.answered && t.n == brakeEndpoints && t.d == brakeDomains && 100*t.failing >= percent*(t.failing+t.well)
}

// tally asks every endpoint how it has fared since failures began. Whoever has not told anything that is newer
// does not count. The caller holds mu.
func (b *Board) tally(began, now time.Time) tally {
	var t tally
	spare := len(b.slots) * (100 - b.percent) // well ones, in percent, that a common fault can leave
	for i := range b.slots {
		s, k, about := &b.slots[i], b.roster.keys[i], b.bearings[i]
		switch s.fares(k.Check(), began, now) {
		case faresWell:
			t.well++
			t.answered = t.answered || about.reference
		case faresIll:
			t.fails(k.Address, about)
		}
		if t.answered || 100*t.well > spare {
			break // whatever the others tell
		}
	}
	return t
}

// fails counts an endpoint as failing, unless it is a reference.
func (t *tally) fails(a netip.Addr, about bearing) {
	if about.reference {
		return
	}
	t.failing++
	if t.n < brakeEndpoints && !slices.Contains(t.addresses[:t.n], a) {
		t.addresses[t.n] = a
		t.n++
	}
	if t.d < brakeDomains && !slices.Contains(t.domains[:t.d], about.domain) {
		t.domains[t.d] = about.domain
		t.d++
	}
}

// faring is what an endpoint has to say of a common fault.
type faring uint8

const (
	faresUnknown faring = iota // it has not told anything since, or nothing that is clear
	faresWell
	faresIll
)

// fares tells how an endpoint has fared since a moment: ill when it is on its way to be withdrawn, or was withdrawn
// within its window. One failure alone says nothing.
func (s *slot) fares(c Check, began, now time.Time) faring {
	e, rule := s.endpoint, c.Rule()
	many := e.Failed >= (rule.Fall+1)/2
	switch {
	case e.Succeeding > 0 && (!many || e.Succeeding >= min(surelyWell, rule.Window)):
		if s.at.Before(began) {
			return faresUnknown
		}
		return faresWell
	case !e.Serving() && now.Sub(e.Since) > c.span():
		return faresUnknown // it failed by itself, long ago
	case many, e.Failing >= min(2, rule.Fall):
		return faresIll
	}
	return faresUnknown
}
