package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb/config"
	"gslb/dns/steer"
)

// hints tell how near a verdict is, while it comes nearer.
type hints struct {
	places map[string]string // the last hint of a place
	last   time.Time
}

const (
	hintInterval = 900 * time.Millisecond // between two hints at least: about one a second
	goodStep     = 5                      // of so many good checks only the last is told
)

// next gives what is to be told now of the places whose hint has changed, in one line, or "".
func (h *hints) next(services []steer.ServiceView, all map[string]limits, now time.Time) string {
	if now.Sub(h.last) < hintInterval {
		return ""
	}
	var texts []string
	about := map[string][]string{} // the places that a text is about
	for _, p := range distinct(services) {
		last := h.places[p.Place]
		text := hintOf(p, all, last)
		h.places[p.Place] = text
		if text == "" || text == last {
			continue
		}
		if about[text] == nil {
			texts = append(texts, text)
		}
		about[text] = append(about[text], p.Place)
	}
	if texts == nil {
		return ""
	}
	h.last = now
	for i, text := range texts {
		texts[i] = strings.Join(about[text], ", ") + ": " + text
	}
	return strings.Join(texts, "; ")
}

// distinct gives each place as the first service that has it sees it.
func distinct(services []steer.ServiceView) []steer.PlaceView {
	var places []steer.PlaceView
	for _, svc := range services {
		for _, p := range svc.Places {
			if !slices.ContainsFunc(places, func(o steer.PlaceView) bool { return o.Place == p.Place }) {
				places = append(places, p)
			}
		}
	}
	return places
}

// limits are the numbers of a check that decide over a place.
type limits struct{ fall, rise int }

// readLimits reads the checks of the demo's configuration: it may have been edited.
func readLimits(file string) map[string]limits {
	cfg, _ := config.Load(file)
	all := map[string]limits{}
	for _, c := range cfg.Checks {
		all[c.Name] = limits{c.Fall, c.Rise}
	}
	return all
}

// hintOf is the hint of a place, by the first of its endpoints on whose way something is; last is the
// one before.
func hintOf(p steer.PlaceView, all map[string]limits, last string) string {
	for _, e := range p.Endpoints {
		l, ok := all[e.Check]
		switch {
		case !ok || e.Verdict == "unknown":
		case e.Verdict == "withdrawn" && e.Succeeding > 0 && e.Succeeding < goodStep:
			return fmt.Sprintf("good checks again, restored at %d in a row", l.rise)
		case e.Verdict == "withdrawn" && e.Succeeding > 0:
			return fmt.Sprintf("%d good checks in a row, restored at %d", e.Succeeding/goodStep*goodStep, l.rise)
		case e.Verdict == "withdrawn":
		case e.Failing > 0:
			return fmt.Sprintf("%d of %d checks failed, withdrawn at %d", e.Failed, e.Window, l.fall)
		case e.Failed > 0 && last != "":
			return "good checks again, not withdrawn"
		}
	}
	return ""
}
