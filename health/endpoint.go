package health

import "time"

// Endpoint is everything that is known of one probed address. It is a comparable value. The zero
// value is an endpoint that was never probed.
type Endpoint struct {
	Verdict Verdict
	Since   time.Time // when the verdict began; of an unknown one, when it came to the board

	Failed  int    // failures in the window
	Results int    // results in the window
	Window  int    // how many results the window can hold
	Bits    uint64 // the results: bit 0 is the newest, 1 is a failure

	Failing    int // failures in a row up to now, within the window
	Succeeding int // successes in a row up to now, within the window; one of the two is 0

	// Held tells that the rule would withdraw it, and the brake of the board holds its verdict.
	Held bool

	// Cause is that of the last failure. It is kept over successes until the window is clean again,
	// and for as long as the endpoint is withdrawn.
	Cause string
}

// Serving reports whether the endpoint deserves traffic. One that is unknown does: only failures keep an endpoint out
// of answers.
func (e Endpoint) Serving() bool { return e.Verdict != Withdrawn }

// after gives the endpoint with one more result of the check.
func (e Endpoint) after(c Check, r Result, now time.Time) Endpoint {
	rule := c.Rule()
	w := Window{Bits: e.Bits, Results: e.Results}.Add(!r.OK, rule.Window)
	if v := rule.Judge(e.Verdict, w); v != e.Verdict {
		e.Verdict, e.Since = v, now
	}
	if !r.OK {
		e.Cause = r.Cause
	}
	return e.holding(w, rule)
}

// under gives the endpoint as it begins under another check: the verdict stays, and the results of
// the old check, which say nothing of the new one, are forgotten.
func (e Endpoint) under(c Check) Endpoint { return e.holding(Window{}, c.Rule()) }

// holding gives the endpoint with the window w of a rule, and all that follows from it.
func (e Endpoint) holding(w Window, rule Rule) Endpoint {
	e.Held = false
	e.Bits, e.Results, e.Window = w.Bits, w.Results, rule.Window
	e.Failed, e.Failing, e.Succeeding = w.Failed(), w.Failing(), w.Succeeding()
	if e.Failed == 0 && e.Verdict != Withdrawn {
		e.Cause = ""
	}
	return e
}

// settled reports whether anything is known of the endpoint yet.
func (e Endpoint) settled() bool { return e.Verdict != Unknown || e.Results > 0 }
