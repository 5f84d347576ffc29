package sheet

import (
	"fmt"
	"io"
	"time"

	"gslb/dns/admin"
)

// Departure prints how far a drained place has been left.
func Departure(w io.Writer, now time.Time, d admin.Departure) { sheet{w, now}.departure(d) }

func (s sheet) departure(d admin.Departure) {
	if len(d.Drains) == 0 {
		fmt.Fprintf(s.w, "%s is not drained: gslb drain %s begins that.\n", d.Place, d.Place)
		return
	}
	for _, one := range d.Drains {
		what := d.Place
		if one.Service != "" {
			what += " for " + one.Service
		}
		fmt.Fprintf(s.w, "%s is drained since %s (%s)%s\n", what, Stamp(one.Since), s.ago(one.Since), s.drainWords(one.DrainView))
	}
	fmt.Fprintln(s.w)
	t := NewTable(s.w, "")
	t.Row("answers", s.givenWords(d))
	t.Row("caches", s.cacheWords(d.Expired))
	t.Row("clients", clientWords(d.Clients))
	t.Row("load", s.loadWords(d.Load))
	t.Row("model", s.forecastWords(d.Forecast))
	t.Flush()
	if len(d.Services) > 1 {
		fmt.Fprintln(s.w)
		t := NewTable(s.w, "")
		t.Row("SERVICE", "STANDING", "GIVEN", "TTL", "CACHES")
		for _, v := range d.Services {
			t.Row(v.Service, v.Standing, fmt.Sprint(v.Given), fmt.Sprintf("%ds", v.TTL), s.cacheWords(v.Expired))
		}
		t.Flush()
	}
	if d.Safe {
		fmt.Fprintf(s.w, "\nSafe to power off: %s.\n", d.Because)
		return
	}
	fmt.Fprintf(s.w, "\nNot known to be safe to power off: %s.\n", d.Because)
}

func (s sheet) givenWords(d admin.Departure) string {
	if d.Given == 0 {
		return "0 have given it since"
	}
	return fmt.Sprintf("%d HAVE GIVEN IT SINCE: nobody else serves", d.Given)
}

func (s sheet) cacheWords(expired time.Time) string {
	switch {
	case expired.IsZero():
		return "-"
	case s.now.Before(expired):
		return fmt.Sprintf("those that keep to the TTL have it until %s (%s to go)", Stamp(expired), Left(expired.Sub(s.now)))
	}
	return fmt.Sprintf("those that keep to the TTL forgot it at %s (%s ago)", Stamp(expired), s.ago(expired))
}

func clientWords(c admin.Clients) string {
	if c.Had == 0 {
		return "none of those that are remembered had been given it in the hour before"
	}
	return fmt.Sprintf("%d of %d networks that had been given it have been given another place since (%.0f%%; one network in %d is remembered)",
		c.Moved.Moved, c.Had, 100*float64(c.Moved.Moved)/float64(c.Had), c.Share)
}

func (s sheet) loadWords(l admin.MeasuredLoad) string {
	if l.Measured == 0 {
		return "not measured: no check of it tells one (load of http, https, exec and push checks)"
	}
	newest := time.Time{}
	for _, r := range l.Reports {
		if r.At.After(newest) {
			newest = r.At
		}
	}
	return fmt.Sprintf("%g measured, by reports of %d of %s, the newest %s ago", l.Total, l.Measured, Count(l.Endpoints, "endpoint"), s.ago(newest))
}

// forecastWords is the model's line for now and the next points of it.
func (s sheet) forecastWords(f admin.Forecast) string {
	words := fmt.Sprintf("%.1f%% of its users may still come", 100*f.Now)
	told := 0
	for _, p := range f.Points {
		if p.At.After(s.now) && told < 3 {
			words += fmt.Sprintf(", %.1f%% in %s", 100*p.Left, Left(p.At.Sub(s.now)))
			told++
		}
	}
	return words + " (a model, not a measurement)"
}
