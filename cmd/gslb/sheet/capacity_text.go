package sheet

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Bounds of what is printed: of many losses the worst, and of each the fullest places.
const (
	mostLosses   = 12
	mostCarriers = 3
)

// Write prints the capacities for people.
func (c *Capacities) Write(w io.Writer) {
	if c != nil {
		capacitySheet{w, c}.write()
	}
}

type capacitySheet struct {
	w io.Writer
	*Capacities
}

func (s capacitySheet) write() {
	fmt.Fprintf(s.w, "\nWhat the places carry, and what they would if one were lost or drained.\n%s%s\n%s", s.Clients.words(), uncounted(s.Peers), s.without())
	t := NewTable(s.w, "  ")
	if s.Known {
		t.Row("LOST", "PLACE", "LOAD", "CAPACITY", "FILLED")
	} else {
		t.Row("LOST", "PLACE", "PART", "CAPACITY")
	}
	losses := s.worst()
	for _, l := range losses {
		s.loss(t, l)
	}
	t.Flush()
	if more := len(s.Losses) - len(losses); more > 0 {
		fmt.Fprintf(s.w, "  No other loss (%d) fills any place more than these.\n", more)
	}
	if !s.Known && s.Most > 0 {
		fmt.Fprintf(s.w, "No demand is known (services.X.demand). While all services together ask for at most %s, one as much as the other, no loss fills a place to more than %s.\n",
			amount(s.Most), percent(fullest))
	}
}

// without says which services are not counted.
func (s capacitySheet) without() string {
	if len(s.Uncounted) == 0 {
		return ""
	}
	return fmt.Sprintf("Without a demand, and not counted: %s.\n", listed(s.Uncounted, func(name string) string { return name }))
}

// worst gives what holds while nothing is lost, and the losses that fill any place most.
func (s capacitySheet) worst() []lossRow {
	losses := slices.Clone(s.Losses[1:])
	if len(losses) > mostLosses {
		slices.SortStableFunc(losses, func(a, b lossRow) int { return cmp.Compare(b.fullness(), a.fullness()) })
		losses = losses[:mostLosses]
	}
	return append([]lossRow{s.Losses[0]}, losses...)
}

// fullness is how much a loss fills the place that it fills most.
func (l lossRow) fullness() float64 {
	most := 0.0
	for _, c := range l.Carriers {
		if c.Capacity > 0 {
			most = max(most, c.Load/c.Capacity)
		}
	}
	return most
}

func (s capacitySheet) loss(t Table, l lossRow) {
	lost := cmp.Or(l.Lost, "none")
	shown := l.Carriers
	if l.Lost != "" {
		shown = shown[:min(len(shown), mostCarriers)]
	}
	rows := slices.Clone(shown)
	if rest := l.Carriers[len(shown):]; len(rest) > 0 {
		more := carrier{Place: fmt.Sprintf("%d more", len(rest))}
		for _, c := range rest {
			more.Load += c.Load
		}
		rows = append(rows, more)
	}
	if l.Nobody > 0 {
		rows = append(rows, carrier{Place: "nobody", Load: l.Nobody})
	}
	for _, c := range rows {
		t.Row(append([]string{lost}, s.cells(c)...)...)
		lost = ""
	}
}

func (s capacitySheet) cells(c carrier) []string {
	cells := []string{c.Place, s.load(c.Load), "-"}
	if c.Capacity > 0 {
		cells[2] = amount(c.Capacity)
	}
	switch {
	case !s.Known:
		return cells
	case c.Capacity == 0:
		return append(cells, "-")
	case c.Filled > fullest:
		return append(cells, percent(c.Filled)+" !")
	}
	return append(cells, percent(c.Filled))
}

func (s capacitySheet) load(load float64) string {
	if !s.Known {
		return percent(load)
	}
	return amount(load)
}

// amount writes a load or a capacity with as many digits as one can read.
func amount(a float64) string {
	if a >= 1000 {
		return strconv.FormatFloat(a, 'f', 0, 64)
	}
	return strconv.FormatFloat(a, 'g', 4, 64)
}
