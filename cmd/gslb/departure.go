package main

import (
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"gslb/dns/admin"
)

func newStatusDrain(o *options) *cobra.Command {
	var asJSON, mustBeSafe bool
	c := &cobra.Command{
		Use:   "drain PLACE",
		Short: "Show how far a drained place has been left, and whether it can be switched off",
		Long: `Show how far a drained place has been left: since when, by whom and why, what answers still give it, when caches
forget it, how many clients have gone elsewhere, and what its own endpoints say that they carry.

Exit code 1 when the place is not drained for all its services; with --safe, when it is not safe to switch it off.
That it is, only its endpoints say: by checks that tell a load of 0.`,
		Example: "  gslb status drain msk-2\n  until gslb status drain msk-2 --safe; do sleep 10; done",
		Args:    one("place"),
		RunE: func(c *cobra.Command, args []string) error {
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			d, err := get[admin.Departure](c.Context(), server, "/v1/drains/"+url.PathEscape(args[0]), nil)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(c.OutOrStdout(), d)
			} else {
				sheet{c.OutOrStdout(), time.Now()}.departure(d)
			}
			if err == nil && (!d.Drained || mustBeSafe && !d.Safe) {
				return errTold
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&mustBeSafe, "safe", false, "exit code 1 unless it is safe to switch the place off")
	return c
}

// departure tells how far a place has been left.
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
		fmt.Fprintf(s.w, "%s is drained since %s (%s)%s\n", what, stampText(one.Since), s.ago(one.Since), s.drainWords(one.DrainView))
	}
	fmt.Fprintln(s.w)
	t := newTable(s.w, "")
	t.row("answers", s.givenWords(d))
	t.row("caches", s.cacheWords(d.Expired))
	t.row("clients", clientWords(d.Clients))
	t.row("load", s.loadWords(d.Load))
	t.row("model", s.forecastWords(d.Forecast))
	t.flush()
	if len(d.Services) > 1 {
		fmt.Fprintln(s.w)
		t := newTable(s.w, "")
		t.row("SERVICE", "STANDING", "GIVEN", "TTL", "CACHES")
		for _, v := range d.Services {
			t.row(v.Service, v.Standing, fmt.Sprint(v.Given), fmt.Sprintf("%ds", v.TTL), s.cacheWords(v.Expired))
		}
		t.flush()
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
		return fmt.Sprintf("those that keep to the TTL have it until %s (%s to go)", stampText(expired), s.ago(s.now.Add(-expired.Sub(s.now))))
	}
	return fmt.Sprintf("those that keep to the TTL forgot it at %s (%s ago)", stampText(expired), s.ago(expired))
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
	return fmt.Sprintf("%g measured, by reports of %d of %s, the newest %s ago", l.Total, l.Measured, count(l.Endpoints, "endpoint"), s.ago(newest))
}

// forecastWords is the model's line for now and the next points of it.
func (s sheet) forecastWords(f admin.Forecast) string {
	words := fmt.Sprintf("%.1f%% of its users may still come", 100*f.Now)
	told := 0
	for _, p := range f.Points {
		if p.At.After(s.now) && told < 3 {
			words += fmt.Sprintf(", %.1f%% in %s", 100*p.Left, s.ago(s.now.Add(-p.At.Sub(s.now))))
			told++
		}
	}
	return words + " (a model, not a measurement)"
}
