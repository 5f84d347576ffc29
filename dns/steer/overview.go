package steer

import (
	"time"

	"gslb/config"
	"gslb/health"
)

// ServiceView is how one service stands, for an operator's eyes and for programs.
type ServiceView struct {
	Service string      `json:"service"`
	Served  bool        `json:"served"` // some place serves
	Places  []PlaceView `json:"places"`
}

// PlaceView is how one place stands for a service.
type PlaceView struct {
	Place     string         `json:"place"`
	Standing  string         `json:"standing"` // serving, unknown, withdrawn or drained
	Drain     *DrainView     `json:"drain,omitempty"`
	Ramp      *RampView      `json:"ramp,omitempty"` // the place comes back, and does not have all of its clients yet
	Endpoints []EndpointView `json:"endpoints"`
}

// DrainView is the drain that keeps a place out; of several the one that ends last.
type DrainView struct {
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	Hard   bool      `json:"hard"`
}

// RampView is how far a place is that takes its clients step by step.
type RampView struct {
	Part  float64   `json:"part"` // of 1: of the client networks
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// EndpointView is what the checks say of one endpoint. An unchecked one has an empty Check.
type EndpointView struct {
	Address    string    `json:"address"`
	Probe      string    `json:"probe,omitempty"` // the address that is probed, where it is another
	Check      string    `json:"check,omitempty"`
	Verdict    string    `json:"verdict"`
	Failed     int       `json:"failed"`
	Results    int       `json:"results"` // in the window so far
	Window     int       `json:"window"`
	Fall       int       `json:"fall,omitempty"`     // failures in the window that withdraw it
	Rise       int       `json:"rise,omitempty"`     // successes in the window that restore it
	Interval   float64   `json:"interval,omitempty"` // seconds from one probe to the next
	Last       string    `json:"last,omitempty"`     // the window's results, oldest first: 1 succeeded, 0 failed
	Failing    int       `json:"failing"`            // failures in a row
	Succeeding int       `json:"succeeding"`         // successes in a row
	Cause      string    `json:"cause,omitempty"`
	Since      time.Time `json:"since,omitzero"`

	State    string  `json:"state,omitempty"`    // up or down by hand, whatever the verdict
	Degraded bool    `json:"degraded,omitempty"` // it serves, and has failed of late
	Held     bool    `json:"held,omitempty"`     // by the brake: the rule would withdraw it
	Next     float64 `json:"next,omitempty"`     // seconds until the rule could turn the verdict at the earliest; 0: nothing points that way, or the brake holds it

	Key health.Key `json:"-"` // of the worst check's probe; the zero Key of an unchecked one

	Checks []CheckView `json:"checks,omitempty"` // where there are several: the fields above are of the worst
}

// Words say what holds for the endpoint beside the verdict of its checks.
func (e EndpointView) Words() []string {
	var words []string
	if e.Degraded {
		words = append(words, "degraded")
	}
	if e.Held {
		words = append(words, "held")
	}
	if e.State != "" {
		words = append(words, e.State+" by hand")
	}
	return words
}

// CheckView is what one of several checks of an endpoint says.
type CheckView struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"`
	Failed  int    `json:"failed"`
	Cause   string `json:"cause,omitempty"`
}

// Overview tells how every service stands at a moment, in the order of the configuration.
func (s *Snapshot) Overview(now time.Time) []ServiceView {
	views := make([]ServiceView, 0, len(s.in.Policy.services))
	for i := range s.in.Policy.services {
		views = append(views, s.View(i, now))
	}
	return views
}

// View tells how one service stands at a moment.
func (s *Snapshot) View(service int, now time.Time) ServiceView {
	svc := s.state(service)
	view := ServiceView{Service: svc.name, Served: svc.anybody(), Places: []PlaceView{}}
	for j := range svc.members {
		place := s.placeView(&svc.members[j], &svc.standing[j])
		if r := s.rampOf(service, j); r.length > 0 && now.Before(r.end()) && place.Drain == nil {
			place.Ramp = &RampView{r.part(now), time.Unix(0, r.start).UTC(), r.end().UTC()}
		}
		view.Places = append(view.Places, place)
	}
	return view
}

// Served tells whether some place serves the clients of a service.
func (s *Snapshot) Served(service int) bool { return s.state(service).anybody() }

func (s *Snapshot) placeView(m *member, st *standing) PlaceView {
	view := PlaceView{Place: s.in.Policy.places[m.place].name, Standing: st.word(), Endpoints: []EndpointView{}}
	if st.drained {
		view.Drain = &DrainView{Reason: st.drain.Reason, By: st.drain.By, Until: st.drain.Until, Hard: st.hard}
	}
	for _, e := range m.endpoints {
		view.Endpoints = append(view.Endpoints, s.endpointView(m, e))
	}
	return view
}

// word names a standing as reasons do, for a member that is in no answer.
func (st *standing) word() string {
	switch {
	case st.drained:
		return "drained"
	case !st.healthy:
		return "withdrawn"
	case st.unknown:
		return "unknown"
	}
	return "serving"
}

func (s *Snapshot) endpointView(m *member, e endpoint) EndpointView {
	view := EndpointView{Address: m.shown(e), Verdict: health.Up.String(), State: stateWord(e.state)}
	c := s.condition(e)
	if c.target < 0 {
		return view
	}
	if probe, ok := s.in.Policy.probe(e, c.target); ok {
		view.Probe = probe.String()
	}
	t, state := s.in.Policy.targets[c.target], c.worst
	view.Check, view.Window, view.Key = t.Name, t.Check.Window, t.Key()
	view.Verdict, view.Failed, view.Results = state.Verdict.String(), state.Failed, state.Results
	view.Failing, view.Succeeding = state.Failing, state.Succeeding
	view.Cause, view.Since = state.Cause, state.Since
	view.Degraded, view.Held = c.degraded, state.Held
	if view.Next = c.rises.Seconds(); !s.in.Health.Brake().On { // which nobody is withdrawn under
		view.Next += c.falls.Seconds()
	}
	rule := t.Check.Rule()
	view.Fall, view.Rise, view.Interval = rule.Fall, rule.Rise, t.Check.Interval.Seconds()
	view.Last = health.Window{Bits: state.Bits, Results: state.Results}.String()
	if e.several() {
		for _, target := range e.targets {
			state, _ := s.judge().target(target)
			view.Checks = append(view.Checks, CheckView{s.in.Policy.targets[target].Name, state.Verdict.String(), state.Failed, state.Cause})
		}
	}
	return view
}

// LeftBare gives the services that would have no serving place left if this drain held too. A
// service that has none already is not among them.
func (s *Snapshot) LeftBare(d config.Drain) []string {
	var bare []string
	left := s.WithDrain(d)
	for _, i := range left.Changed(s) {
		if s.Served(i) && !left.Served(i) {
			bare = append(bare, s.in.Policy.services[i].name)
		}
	}
	return bare
}
