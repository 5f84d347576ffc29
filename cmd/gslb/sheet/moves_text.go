package sheet

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Write prints the moves for people.
func (m *Moves) Write(w io.Writer) { moveSheet{w, m}.write() }

type moveSheet struct {
	w io.Writer
	*Moves
}

// mostRows bounds how many rows of one kind are printed.
const mostRows = 10

func (s moveSheet) write() {
	fmt.Fprintf(s.w, "From %s (config %s) to %s (config %s).\n", s.Old.File, s.Old.Config, s.New.File, s.New.Config)
	fmt.Fprintf(s.w, "%s\n%s\n\n%s\n", s.Clients.words(), s.taken(), s.verdict())
	if s.Still {
		return
	}
	if s.Moved > 0 {
		s.services()
		s.places()
		s.groups("PARTNER", s.Partners)
		s.groups("COUNTRY", s.Countries)
	}
	s.names()
}

// words says who the clients are.
func (c Clients) words() string {
	if c.File == "" {
		return fmt.Sprintf("Clients: a sample of %s for the address space, weighed by its size,\nIPv4 and IPv6 half each where both are known.",
			plural(float64(c.Addresses), "address", "addresses"))
	}
	return fmt.Sprintf("Clients: %s of %s in %s.", plural(c.Weight, "client", "clients"), plural(float64(c.Addresses), "line", "lines"), c.File)
}

// uncounted says that what some partners announce is not known.
func uncounted(peers []string) string {
	if len(peers) == 0 {
		return ""
	}
	return "\nWhat these announce to a server is not counted: " + strings.Join(peers, ", ") + "."
}

func plural(n float64, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%.0f %s", n, plural)
}

// taken says what is taken for granted.
func (s moveSheet) taken() string {
	return "Taken for granted: everything is up, and no partner announces anything: routes learned over BGP are in no configuration." + uncounted(s.Peers)
}

func (s moveSheet) verdict() string {
	switch {
	case s.Still:
		return "Nothing moves."
	case s.Moved == 0 && len(s.comparison.Moves) == 0:
		return "No service moves; names do."
	}
	words := fmt.Sprintf("%s of the answers move, when each client asks each service once for each type", s.part(s.Moved, s.comparison.Answers(), "answers"))
	if broad := ways(s.comparison.Moves, s.comparison.Answers()); len(broad) > 1 {
		words += fmt.Sprintf("; above all %s (%s)", broad[0].words(), percent(broad[0].Part))
	}
	return words + "."
}

// words tells a way in a sentence.
func (w way) words() string {
	if w.From == w.To {
		return "to other addresses of " + w.To
	}
	return "from " + w.From + " to " + w.To
}

// cells tells a way in a table.
func (w way) cells() []string {
	if w.From == w.To {
		return []string{w.From, "other addresses"}
	}
	return []string{w.From, w.To}
}

// part writes a part of a whole; where the clients were counted, the number with it.
func (s moveSheet) part(part, whole float64, things string) string {
	if s.Clients.File == "" {
		return percent(part)
	}
	words := fmt.Sprintf("%s (%s", percent(part), strconv.FormatFloat(math.Round(part*whole*10)/10, 'f', -1, 64))
	if things != "" {
		words += fmt.Sprintf(" of %.0f", whole)
	}
	return words + ")"
}

// percent writes a part of 1. It never says 0% of something, nor 100% of all but something.
func percent(part float64) string {
	switch r := math.Round(part*1e4) / 1e2; {
	case part > 0 && r == 0:
		return "<0.01%"
	case part < 1 && r == 100:
		return ">99.99%"
	default:
		return strconv.FormatFloat(r, 'f', -1, 64) + "%"
	}
}

func (s moveSheet) services() {
	fmt.Fprintln(s.w)
	t := NewTable(s.w, "")
	t.Row("SERVICE", "TYPE", "MOVE", "FROM", "TO", "PART")
	still := 0
	for _, svc := range s.Services {
		if len(svc.Flows) == 0 {
			still++
			continue
		}
		head := []string{svc.Service, svc.Type, s.part(svc.Moved, s.Clients.Weight, "")}
		for i, w := range svc.Flows {
			if i == mostRows {
				t.Row("", "", "", fmt.Sprintf("and %d more", len(svc.Flows)-i))
				break
			}
			t.Row(append(append(head, w.cells()...), s.part(w.Part, s.Clients.Weight, ""))...)
			head = []string{"", "", ""}
		}
	}
	t.Flush()
	if still > 0 {
		fmt.Fprintf(s.w, "Of %s for a service and a type nobody moves.\n", plural(float64(still), "other question", "other questions"))
	}
}

func (s moveSheet) places() {
	fmt.Fprintln(s.w)
	t := NewTable(s.w, "")
	t.Row("PLACE", "BEFORE", "AFTER", "CHANGE")
	for i, p := range s.Places {
		if i >= 2*mostRows {
			t.Row(fmt.Sprintf("and %d more", len(s.Places)-i))
			break
		}
		t.Row(p.Place, percent(p.Before), percent(p.After), p.change())
	}
	t.Flush()
}

// change tells how much more or less a place gets, of what it has before.
func (p placeMoves) change() string {
	times := p.After / p.Before
	switch r := math.Round(1e3*(times-1)) / 10; {
	case p.Before == p.After && p.Renewed > 0:
		return percent(p.Renewed/p.Before) + " get other addresses"
	case p.Before == p.After:
		return "none"
	case p.Before == 0:
		return "new"
	case p.After == 0:
		return "empty"
	case r == 0:
		return "<0.1%"
	case times >= 10:
		return fmt.Sprintf("x%.0f", times)
	case r > 0:
		return "+" + strconv.FormatFloat(r, 'f', -1, 64) + "%"
	default:
		return strconv.FormatFloat(r, 'f', -1, 64) + "%"
	}
}

func (s moveSheet) groups(what string, groups []groupMoves) {
	if len(groups) == 0 {
		return
	}
	fmt.Fprintln(s.w)
	t := NewTable(s.w, "")
	t.Row(what, "CLIENTS", "MOVE", "MOSTLY")
	for i, g := range groups {
		if i == mostRows {
			t.Row(fmt.Sprintf("and %d more", len(groups)-i))
			break
		}
		t.Row(cmp.Or(g.Name, "unknown"), s.part(g.Clients, s.Clients.Weight, ""), percent(g.Moved), g.Flows[0].words())
	}
	t.Flush()
}

func (s moveSheet) names() {
	if len(s.Names) == 0 {
		return
	}
	fmt.Fprintln(s.w)
	t := NewTable(s.w, "")
	t.Row("NAME", "BEFORE", "AFTER")
	for i, n := range s.Names {
		if i == mostRows {
			t.Row(fmt.Sprintf("and %d more", len(s.Names)-i))
			break
		}
		t.Row(n.Name, cmp.Or(n.Before, "no service"), cmp.Or(n.After, "no service"))
	}
	t.Flush()
}
