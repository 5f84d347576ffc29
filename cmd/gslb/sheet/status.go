package sheet

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gslb/dns/admin"
	"gslb/dns/steer"
)

// sheet prints how things stand at one moment.
type sheet struct {
	w   io.Writer
	now time.Time
}

func (s sheet) ago(t time.Time) string { return steer.Ago(s.now.Sub(t)) }

// Status prints how a server and its services stand.
func Status(w io.Writer, now time.Time, of admin.Status) { sheet{w, now}.status(of) }

func (s sheet) status(of admin.Status) {
	t := NewTable(s.w, "")
	state := "waiting for the first results of the checks"
	if of.Ready {
		state = "serving"
	}
	t.Row("gslb "+of.Version, fmt.Sprintf("%s, up %s", state, s.ago(of.Since)))
	t.Row("listen", addresses(of.Listen))
	t.Row("config", fmt.Sprintf("%d:%s %s, loaded %s ago", of.Config.Number, of.Config.Hash, of.Config.File, s.ago(of.Config.Loaded)))
	t.Row("geo", of.Geo)
	t.Row("brake", s.brakeWords(of.Brake))
	if f := of.Saving.Failing; f != "" {
		t.Row("state", fmt.Sprintf("NOT SAVED for %s: %s", s.ago(of.Saving.Since), f))
	}
	t.Flush()
	s.refusal(of.Config.Refused)
	for _, v := range of.Services {
		s.service(v)
	}
}

// brakeWords tells whether verdicts are held.
func (s sheet) brakeWords(b steer.BrakeView) string {
	var words string
	switch {
	case b.Percent == 0:
		return "off: verdicts are never held"
	case b.On:
		words = fmt.Sprintf("ON for %s: %d of %d endpoints fail at once, so verdicts are held", s.ago(b.Since), b.Failing, b.Of)
	default:
		words = fmt.Sprintf("holds verdicts when %d%% of the endpoints fail at once", b.Percent)
	}
	answering := 0
	for _, r := range b.Reference {
		if r.Succeeding > 0 {
			answering++
		}
	}
	if len(b.Reference) > 0 {
		words += fmt.Sprintf("; %d of %d reference addresses answer", answering, len(b.Reference))
	}
	return words
}

func (s sheet) refusal(r *admin.Refusal) {
	if r == nil {
		return
	}
	fmt.Fprintf(s.w, "\nThe configuration's files were refused %s ago; what was in force before stays:\n", s.ago(r.Time))
	for _, p := range r.Problems {
		fmt.Fprintln(s.w, "  "+p)
	}
}

func (s sheet) service(v steer.ServiceView) {
	fmt.Fprintln(s.w)
	if !v.Served {
		fmt.Fprintf(s.w, "%s: nobody serves, all_down answers\n", v.Service)
	} else {
		fmt.Fprintln(s.w, v.Service)
	}
	t := NewTable(s.w, "  ")
	t.Row("PLACE", "ENDPOINT", "VERDICT", "FAILED", "STREAK", "SINCE", "NEXT", "LAST CAUSE")
	for _, p := range v.Places {
		for _, e := range p.Endpoints {
			t.Row(p.Place, addressWord(e), verdictWord(p, e), failedWord(e), streakWord(e), s.sinceWord(e), nextWord(e), causeWord(e))
		}
	}
	t.Flush()
	for _, p := range v.Places {
		if p.Drain != nil {
			fmt.Fprintf(s.w, "  %s is drained%s\n", p.Place, s.drainWords(*p.Drain))
		}
		if r := p.Ramp; r != nil {
			fmt.Fprintf(s.w, "  %s comes back: it has %d%% of its clients, and all of them at %s (%s to go)\n", p.Place, int(100*r.Part), Stamp(r.Until), Left(r.Until.Sub(s.now)))
		}
	}
}

// addressWord is the endpoint's address, with the one that is probed in its place.
func addressWord(e steer.EndpointView) string {
	if e.Probe == "" {
		return e.Address
	}
	return e.Address + " by " + e.Probe
}

// verdictWord is the endpoint's verdict, with what the place as a whole makes of it.
func verdictWord(p steer.PlaceView, e steer.EndpointView) string {
	word := e.Verdict
	if e.Check == "" {
		word = "unchecked"
	}
	for _, more := range e.Words() {
		word += ", " + more
	}
	switch {
	case p.Standing == "drained":
		return word + ", drained"
	case p.Standing == "withdrawn" && e.Verdict != "withdrawn":
		return word + ", place withdrawn"
	}
	return word
}

func failedWord(e steer.EndpointView) string {
	if e.Check == "" {
		return "-"
	}
	return fmt.Sprintf("%d/%d", e.Failed, e.Window)
}

// nextWord is what the rule could do next, and when at the earliest.
func nextWord(e steer.EndpointView) string {
	if e.Next == 0 {
		return "-"
	}
	in := Left(time.Duration(e.Next * float64(time.Second)))
	if e.Verdict == "withdrawn" {
		return "up in " + in
	}
	return "withdrawn in " + in
}

// causeWord is the last cause, with the check that told it where there are several.
func causeWord(e steer.EndpointView) string {
	if e.Cause == "" {
		return "-"
	}
	if len(e.Checks) > 0 {
		return e.Check + ": " + e.Cause
	}
	return e.Cause
}

func streakWord(e steer.EndpointView) string {
	switch {
	case e.Failing > 0:
		return fmt.Sprintf("%d bad", e.Failing)
	case e.Succeeding > 0:
		return fmt.Sprintf("%d good", e.Succeeding)
	}
	return "-"
}

func (s sheet) sinceWord(e steer.EndpointView) string {
	if e.Since.IsZero() {
		return "-"
	}
	return s.ago(e.Since)
}

func (s sheet) drainWords(d steer.DrainView) string {
	var words []string
	if d.Hard {
		words = append(words, "hard")
	}
	if d.Reason != "" {
		words = append(words, d.Reason)
	}
	if d.By != "" {
		words = append(words, "by "+d.By)
	}
	if !d.Until.IsZero() {
		words = append(words, fmt.Sprintf("until %s (%s to go)", Stamp(d.Until), Left(d.Until.Sub(s.now))))
	}
	if words == nil {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}
