package steer

import (
	"fmt"
	"time"

	"gslb/health"
)

// BrakeView is whether verdicts are held, and which references would release them.
type BrakeView struct {
	Percent   int            `json:"percent"` // of failing endpoints from which on the brake holds; 0: it is off
	On        bool           `json:"on"`
	Since     time.Time      `json:"since,omitzero"`
	Failing   int            `json:"failing,omitempty"` // when it came on
	Of        int            `json:"of,omitempty"`
	Reference []EndpointView `json:"reference,omitempty"`
}

// Brake is the share of failing endpoints, in percent, from which on verdicts are held; 0: never.
func (p *Policy) Brake() int { return p.brake }

// Brake tells whether verdicts are held.
func (s *Snapshot) Brake() BrakeView {
	b := s.in.Health.Brake()
	view := BrakeView{Percent: s.in.Policy.brake, On: b.On, Since: b.Since, Failing: b.Failing, Of: b.Of}
	for i, t := range s.in.Policy.targets {
		if t.Reference {
			e := endpoint{address: t.Address, targets: []int32{int32(i)}, own: 1}
			view.Reference = append(view.Reference, s.endpointView(&member{}, e))
		}
	}
	return view
}

// brakeLine tells in reasons that verdicts are held.
func brakeLine(b health.Brake, now time.Time) Line {
	var l Line
	l.add("brake", "on")
	l.add("failing", fmt.Sprintf("%d/%d", b.Failing, b.Of))
	l.add("since", Ago(now.Sub(b.Since)))
	return l
}

// diffBrake tells that verdicts are held, and that they no longer are.
func diffBrake(old, now *Snapshot) []Event {
	var before health.Brake
	if old != nil {
		before = old.in.Health.Brake()
	}
	switch is := now.in.Health.Brake(); {
	case is.On && !before.On:
		return []Event{{Kind: "brake", Grave: true, Text: fmt.Sprintf(
			"brake on: %d of %d endpoints fail at once, so the fault is likelier ours: verdicts are held", is.Failing, is.Of)}}
	case before.On && !is.On:
		return []Event{{Kind: "brake", Text: "brake off: verdicts follow the checks again, and failures meanwhile are held against nobody"}}
	}
	return nil
}
