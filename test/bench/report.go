package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// loadName is what a server was asked in a window, and how.
type loadName struct{ mix, mode string }

// window is what was measured of one server under one load, in one round.
type window struct {
	round  int
	server string
	loadName

	processor float64 // microseconds of all the server's threads for an answer
	rate      float64 // answers a second
	p50, p99  float64 // microseconds
	lost      float64 // percent of the queries
	bad       int64   // answers that are not what the queries get
	memory    float64 // MB
}

// report is all windows of a run.
type report struct{ windows []window }

// loads gives what was asked, in the order in which it was.
func (r *report) loads() (all []loadName) {
	for _, w := range r.windows {
		if !slices.Contains(all, w.loadName) {
			all = append(all, w.loadName)
		}
	}
	return all
}

// servers gives who was asked, in order.
func (r *report) servers() (all []string) {
	for _, w := range r.windows {
		if !slices.Contains(all, w.server) {
			all = append(all, w.server)
		}
	}
	return all
}

// of gives the windows of one server under one load.
func (r *report) of(server string, l loadName) (all []window) {
	for _, w := range r.windows {
		if w.server == server && w.loadName == l {
			all = append(all, w)
		}
	}
	return all
}

// ratio is the median of the ratios inside each round: what disturbs a whole round falls out.
func ratio(a, b []window, what func(window) float64) float64 {
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			if x.round == y.round && what(y) > 0 {
				ratios = append(ratios, what(x)/what(y))
			}
		}
	}
	return median(ratios)
}

// median of no numbers is 0.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

func medianOf(all []window, what func(window) float64) float64 {
	var v []float64
	for _, w := range all {
		v = append(v, what(w))
	}
	return median(v)
}

func processorOf(w window) float64 { return w.processor }
func rateOf(w window) float64      { return w.rate }

// bad is the wrong answers of our server in the whole run.
func (r *report) bad() (n int64) {
	for _, w := range r.windows {
		if w.server == "gslb" {
			n += w.bad
		}
	}
	return n
}

// print writes the figures of every load, and then the table of ratios.
func (r *report) print(to io.Writer) {
	for _, l := range r.loads() {
		fmt.Fprintf(to, "\n%s, %s\n%-8s %9s %9s %8s %8s %7s %5s %7s\n", l.mix, l.mode, "server", "answers/s", "cpu us", "p50 us", "p99 us", "lost %", "bad", "MB")
		for _, s := range r.servers() {
			all := r.of(s, l)
			if len(all) == 0 {
				continue
			}
			fmt.Fprintf(to, "%-8s %9.0f %9.2f %8.0f %8.0f %7.3f %5.0f %7.1f\n", s, medianOf(all, rateOf), medianOf(all, processorOf),
				medianOf(all, func(w window) float64 { return w.p50 }), medianOf(all, func(w window) float64 { return w.p99 }),
				medianOf(all, func(w window) float64 { return w.lost }), medianOf(all, func(w window) float64 { return float64(w.bad) }),
				medianOf(all, func(w window) float64 { return w.memory }))
		}
	}
	fmt.Fprintln(to)
	r.table(to)
}

// table writes what our server takes for an answer, as a ratio to what each other takes, and to itself: to our plain
// answers; what goes on beside other work is compared with the same queries without it. For TCP it is followed by the
// ratio of answers a second.
func (r *report) table(to io.Writer) {
	others := slices.DeleteFunc(r.servers(), func(s string) bool { return s == "gslb" })
	fmt.Fprintf(to, "| CPU for an answer, gslb / … | %s |\n|---|%s\n", strings.Join(append(slices.Clone(others), "itself"), " | "), strings.Repeat("---|", len(others)+1))
	for _, l := range r.loads() {
		mine := r.of("gslb", l)
		if len(mine) == 0 {
			continue
		}
		cells := []string{cmp.Or(l.mix+" "+l.mode, "-")}
		for _, s := range others {
			cells = append(cells, cell(mine, r.of(s, l), strings.HasPrefix(l.mode, "tcp")))
		}
		base, _, troubled := strings.Cut(l.mix, " + ")
		if !troubled {
			base = "static"
		}
		cells = append(cells, cell(mine, r.of("gslb", loadName{base, l.mode}), false))
		fmt.Fprintf(to, "| %s |\n", strings.Join(cells, " | "))
	}
}

func cell(mine, other []window, withRate bool) string {
	c := ratio(mine, other, processorOf)
	switch {
	case c == 0:
		return "-"
	case withRate:
		return fmt.Sprintf("%.2f (%.2f × as many)", c, ratio(mine, other, rateOf))
	}
	return fmt.Sprintf("%.2f", c)
}
