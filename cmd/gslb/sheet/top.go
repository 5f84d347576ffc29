package sheet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gslb/dns/admin"
	"gslb/dns/steer"
)

// Sight is what was seen of a server at one moment.
type Sight struct {
	At       time.Time
	Status   admin.Status
	Services []admin.Service
	Failing  []admin.Endpoint
	Partners []admin.Partner
	Events   []admin.Event
	Before   *Sight // for rates; nil: it is the first
}

// Top is one screen of gslb top.
type Top struct {
	Sight         *Sight // nil: nothing was seen yet
	Trouble       string // why the newest look failed
	Plain         bool   // without colours
	Width, Height int    // in letters
}

// The colours of a terminal, by what they mean here.
const (
	plainText  = ""
	goodText   = "\x1b[32m"
	warnText   = "\x1b[33m"
	badText    = "\x1b[31m"
	strongText = "\x1b[1m"
	faintText  = "\x1b[2m"
	endText    = "\x1b[0m"
)

// cell is a piece of a line, with its colour.
type cell struct{ text, colour string }

// String draws the screen: as many lines as fit, each as long as fits.
func (f Top) String() string {
	var lines [][]cell
	if f.Trouble != "" {
		for line := range strings.Lines(f.Trouble) {
			lines = append(lines, []cell{{strings.TrimSpace(line), badText}})
		}
	}
	if f.Sight != nil {
		lines = append(lines, f.head()...)
		lines = append(lines, f.places()...)
		lines = append(lines, f.failing()...)
		lines = append(lines, f.sessions()...)
		lines = append(lines, f.happened(f.Height-len(lines)-2)...)
	}
	var b strings.Builder
	for _, line := range lines[:min(len(lines), max(f.Height-1, 1))] {
		b.WriteString(strings.TrimRight(f.line(line), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func (f Top) line(line []cell) string {
	var b strings.Builder
	room := f.Width
	for _, c := range line {
		text := c.text
		if n := utf8.RuneCountInString(text); n > room {
			text = string([]rune(text)[:room])
		}
		room -= utf8.RuneCountInString(text)
		if c.colour == plainText || f.Plain || text == "" {
			b.WriteString(text)
			continue
		}
		b.WriteString(c.colour + text + endText)
	}
	return b.String()
}

func (f Top) head() [][]cell {
	s := f.Sight.Status
	state := cell{"waiting for its checks", warnText}
	if s.Ready {
		state = cell{"serving", goodText}
	}
	rate := "-"
	if p := f.Sight.Before; p != nil {
		rate = perSecond(s.Totals.Questions, p.Status.Totals.Questions, f.Sight.At.Sub(p.At).Seconds())
	}
	lines := [][]cell{
		{{"gslb " + s.Version, strongText}, {"  ", plainText}, state, {fmt.Sprintf("  up %s  config %d:%s  %s", steer.Ago(f.Sight.At.Sub(s.Since)),
			s.Config.Number, s.Config.Hash, f.Sight.At.Format("15:04:05 MST")), plainText}},
		{{f.totals(rate, s.Totals), plainText}},
	}
	if s.Brake.On {
		lines = append(lines, []cell{{fmt.Sprintf("BRAKE: %d of %d endpoints fail at once, verdicts are held", s.Brake.Failing, s.Brake.Of), badText}})
	}
	if s.Config.Refused != nil {
		lines = append(lines, []cell{{"FILES REFUSED: what was in force stays; gslb check tells why", badText}})
	}
	return lines
}

// totals counts what there is, in fewer letters where there is little room.
func (f Top) totals(rate string, t admin.Totals) string {
	words := fmt.Sprintf("%s questions/s  %d of %d services served  %d of %d endpoints up  %s  %d of %d sessions", rate, t.Served, t.Services,
		t.Up, t.Endpoints, Count(t.Drains, "drain"), t.Established, t.Sessions)
	if len(words) > f.Width {
		words = strings.ReplaceAll(words, " of ", "/")
	}
	return words
}

// perSecond is how much a counter grew.
func perSecond(now, before uint64, seconds float64) string {
	if now < before || seconds <= 0 {
		return "-" // the server began anew
	}
	rate := float64(now-before) / seconds
	if rate >= 100 || rate == math.Trunc(rate) {
		return fmt.Sprintf("%.0f", rate)
	}
	return fmt.Sprintf("%.1f", rate)
}

// givenBefore is how many answers each service, under the place "", and each of its places had at an earlier look.
type givenBefore map[[2]string]uint64

// givenAt reads them; of no look there are none.
func givenAt(look *Sight) givenBefore {
	before := givenBefore{}
	if look == nil {
		return before
	}
	for _, s := range look.Services {
		before[[2]string{s.Service, ""}] = s.Given
		for _, m := range s.Places {
			before[[2]string{s.Service, m.Place}] = m.Given
		}
	}
	return before
}

// grown is how many answers came since then. A server that began anew has counted less than before.
func (b givenBefore) grown(service, place string, given uint64) uint64 {
	return given - min(given, b[[2]string{service, place}])
}

// busiestFirst puts services that nobody serves before the others, and then those with more answers since before.
func (b givenBefore) busiestFirst(services []admin.Service) []admin.Service {
	return slices.SortedStableFunc(slices.Values(services), func(x, y admin.Service) int {
		switch {
		case x.Served == y.Served:
			return cmp.Compare(b.grown(y.Service, "", y.Given), b.grown(x.Service, "", x.Given))
		case y.Served:
			return -1
		}
		return 1
	})
}

// places are the rows of services and places, the busiest services first.
func (f Top) places() [][]cell {
	before, seconds := givenAt(f.Sight.Before), 0.0
	if p := f.Sight.Before; p != nil {
		seconds = f.Sight.At.Sub(p.At).Seconds()
	}
	t := topTable{heads: []string{"SERVICE", "PLACE", "STANDING", " UP", " ANSWERS/s", "SHARE"}}
	for _, s := range before.busiestFirst(f.Sight.Services) {
		all := before.grown(s.Service, "", s.Given)
		for i, m := range s.Places {
			name := cell{"", plainText}
			if i == 0 {
				name.text = s.Service
				if !s.Served {
					name.colour = badText
				}
			}
			share := 0.0
			if all > 0 {
				share = float64(before.grown(s.Service, m.Place, m.Given)) / float64(all)
			}
			t.rows = append(t.rows, []cell{
				name, {m.Place, plainText}, {m.Standing, standingColour(m.Standing)}, {fmt.Sprintf("%d/%d", m.Up, m.Endpoints), plainText},
				{perSecond(m.Given, before[[2]string{s.Service, m.Place}], seconds), plainText}, {shareBar(share, f.bar()), goodText},
			})
		}
	}
	return t.lines()
}

func standingColour(standing string) string {
	switch standing {
	case "serving":
		return goodText
	case "drained", "unknown":
		return warnText
	}
	return badText
}

// bar is how many letters stand for a whole.
func (f Top) bar() int {
	if f.Width < 100 {
		return 10
	}
	return 20
}

// shareBar draws a part of 1.
func shareBar(part float64, whole int) string {
	if part == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.0f%%", strings.Repeat("■", int(math.Round(part*float64(whole)))), 100*part)
}

func (f Top) failing() [][]cell {
	if len(f.Sight.Failing) == 0 {
		return nil
	}
	t := topTable{heads: []string{"FAILING", "PLACE", "ENDPOINT", "VERDICT", " FAILED", "LAST CAUSE"}}
	for _, e := range f.Sight.Failing {
		colour := warnText
		if e.Verdict == "withdrawn" {
			colour = badText
		}
		t.rows = append(t.rows, []cell{
			{e.Service, plainText}, {e.Place, plainText}, {e.Address, plainText}, {e.Verdict, colour},
			{fmt.Sprintf("%d/%d", e.Failed, e.Window), plainText}, {e.Cause, plainText},
		})
	}
	return t.lines()
}

func (f Top) sessions() [][]cell {
	t := topTable{heads: []string{"PARTNER", "SITE", "PEER", "SESSION", " PREFIXES", " STALE"}}
	for _, p := range f.Sight.Partners {
		for _, peer := range p.Peers {
			colour := badText
			if peer.State == "established" {
				colour = goodText
			}
			t.rows = append(t.rows, []cell{
				{p.Partner, plainText}, {p.Site, plainText}, {peer.Peer.String(), plainText}, {peer.State, colour},
				{fmt.Sprint(peer.Accepted), plainText}, {fmt.Sprint(peer.Stale), plainText},
			})
		}
	}
	if t.rows == nil {
		return nil
	}
	return t.lines()
}

// happened are the newest events, as many as there is room for.
func (f Top) happened(room int) [][]cell {
	room = min(room-2, len(f.Sight.Events), 8)
	if room < 1 {
		return nil
	}
	lines := [][]cell{nil, {{"HAPPENED", strongText}}}
	for _, e := range f.Sight.Events[len(f.Sight.Events)-room:] {
		lines = append(lines, []cell{{f.when(e.Time) + " ", faintText}, {eventWords(e), plainText}})
	}
	return lines
}

// when is a point in time by the clock of the first line, with its day where that is another than that of the sight.
func (f Top) when(t time.Time) string {
	t = t.In(f.Sight.At.Location())
	if t.Format(time.DateOnly) != f.Sight.At.Format(time.DateOnly) {
		return t.Format(time.DateTime)
	}
	return t.Format(time.TimeOnly)
}
