package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gslb/dns/admin"
	"gslb/dns/steer"
)

// topFrame is one screen of gslb top.
type topFrame struct {
	sight         *topSight // nil: nothing was seen yet
	trouble       string    // why the newest look failed
	plain         bool
	width, height int
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
func (f topFrame) String() string {
	var lines [][]cell
	if f.trouble != "" {
		for line := range strings.Lines(f.trouble) {
			lines = append(lines, []cell{{strings.TrimSpace(line), badText}})
		}
	}
	if f.sight != nil {
		lines = append(lines, f.head()...)
		lines = append(lines, f.places()...)
		lines = append(lines, f.failing()...)
		lines = append(lines, f.sessions()...)
		lines = append(lines, f.happened(f.height-len(lines)-2)...)
	}
	var b strings.Builder
	for _, line := range lines[:min(len(lines), max(f.height-1, 1))] {
		b.WriteString(strings.TrimRight(f.line(line), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func (f topFrame) line(line []cell) string {
	var b strings.Builder
	room := f.width
	for _, c := range line {
		text := c.text
		if n := utf8.RuneCountInString(text); n > room {
			text = string([]rune(text)[:room])
		}
		room -= utf8.RuneCountInString(text)
		if c.colour == plainText || f.plain || text == "" {
			b.WriteString(text)
			continue
		}
		b.WriteString(c.colour + text + endText)
	}
	return b.String()
}

func (f topFrame) head() [][]cell {
	s := f.sight.status
	state := cell{"waiting for its checks", warnText}
	if s.Ready {
		state = cell{"serving", goodText}
	}
	rate := "-"
	if p := f.sight.before; p != nil {
		rate = perSecond(s.Totals.Questions, p.status.Totals.Questions, f.sight.at.Sub(p.at).Seconds())
	}
	lines := [][]cell{
		{{"gslb " + s.Version, strongText}, {"  ", plainText}, state, {fmt.Sprintf("  up %s  config %d:%s  %s", steer.Ago(f.sight.at.Sub(s.Since)),
			s.Config.Number, s.Config.Hash, f.sight.at.Format("15:04:05")), plainText}},
		{{fmt.Sprintf("%s questions/s  %d of %d services served  %d of %d endpoints up  %s  %d of %d sessions", rate, s.Totals.Served, s.Totals.Services,
			s.Totals.Up, s.Totals.Endpoints, count(s.Totals.Drains, "drain"), s.Totals.Established, s.Totals.Sessions), plainText}},
	}
	if s.Brake.On {
		lines = append(lines, []cell{{fmt.Sprintf("BRAKE: %d of %d endpoints fail at once, verdicts are held", s.Brake.Failing, s.Brake.Of), badText}})
	}
	if s.Config.Refused != nil {
		lines = append(lines, []cell{{"FILES REFUSED: what was in force stays; gslb check tells why", badText}})
	}
	return lines
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

// places are the rows of services and places, the busiest services first.
func (f topFrame) places() [][]cell {
	before := map[[2]string]uint64{}
	seconds := 0.0
	if p := f.sight.before; p != nil {
		seconds = f.sight.at.Sub(p.at).Seconds()
		for _, s := range p.services {
			before[[2]string{s.Service, ""}] = s.Given
			for _, m := range s.Places {
				before[[2]string{s.Service, m.Place}] = m.Given
			}
		}
	}
	services := slices.Clone(f.sight.services)
	grown := func(s admin.Service) uint64 { return s.Given - min(s.Given, before[[2]string{s.Service, ""}]) }
	slices.SortStableFunc(services, func(a, b admin.Service) int {
		switch {
		case a.Served != b.Served:
			if !a.Served {
				return -1
			}
			return 1
		case grown(a) > grown(b):
			return -1
		case grown(a) < grown(b):
			return 1
		}
		return 0
	})
	lines := [][]cell{nil, {{fmt.Sprintf("%-20s %-16s %-10s %6s %10s  %s", "SERVICE", "PLACE", "STANDING", "UP", "ANSWERS/s", "SHARE"), strongText}}}
	for _, s := range services {
		for i, m := range s.Places {
			name := cell{fmt.Sprintf("%-20s ", ""), plainText}
			if i == 0 {
				name = cell{fmt.Sprintf("%-20s ", s.Service), plainText}
				if !s.Served {
					name.colour = badText
				}
			}
			n := m.Given - min(m.Given, before[[2]string{s.Service, m.Place}])
			share := 0.0
			if all := grown(s); all > 0 {
				share = float64(n) / float64(all)
			}
			lines = append(lines, []cell{name, {fmt.Sprintf("%-16s ", m.Place), plainText}, {fmt.Sprintf("%-10s ", m.Standing), standingColour(m.Standing)},
				{fmt.Sprintf("%6s %10s  ", fmt.Sprintf("%d/%d", m.Up, m.Endpoints), perSecond(m.Given, before[[2]string{s.Service, m.Place}], seconds)), plainText},
				{shareBar(share), goodText}})
		}
	}
	return lines
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

// shareBar draws a part of 1.
func shareBar(part float64) string {
	if part == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.0f%%", strings.Repeat("■", int(math.Round(part*20))), 100*part)
}

func (f topFrame) failing() [][]cell {
	if len(f.sight.failing) == 0 {
		return nil
	}
	lines := [][]cell{nil, {{fmt.Sprintf("%-20s %-16s %-28s %-10s %7s  %s", "FAILING", "PLACE", "ENDPOINT", "VERDICT", "FAILED", "LAST CAUSE"), strongText}}}
	for _, e := range f.sight.failing {
		colour := warnText
		if e.Verdict == "withdrawn" {
			colour = badText
		}
		lines = append(lines, []cell{{fmt.Sprintf("%-20s %-16s %-28s ", e.Service, e.Place, e.Address), plainText}, {fmt.Sprintf("%-10s ", e.Verdict), colour},
			{fmt.Sprintf("%7s  %s", fmt.Sprintf("%d/%d", e.Failed, e.Window), e.Cause), plainText}})
	}
	return lines
}

func (f topFrame) sessions() [][]cell {
	var rows [][]cell
	for _, p := range f.sight.partners {
		for _, peer := range p.Peers {
			colour := badText
			if peer.State == "established" {
				colour = goodText
			}
			rows = append(rows, []cell{{fmt.Sprintf("%-20s %-16s %-28s ", p.Partner, p.Site, peer.Peer), plainText}, {fmt.Sprintf("%-12s ", peer.State), colour},
				{fmt.Sprintf("%8d  %d", peer.Accepted, peer.Stale), plainText}})
		}
	}
	if rows == nil {
		return nil
	}
	return append([][]cell{nil, {{fmt.Sprintf("%-20s %-16s %-28s %-12s %8s  %s", "PARTNER", "SITE", "PEER", "SESSION", "PREFIXES", "STALE"), strongText}}}, rows...)
}

// happened are the newest events, as many as there is room for.
func (f topFrame) happened(room int) [][]cell {
	room = min(room-2, len(f.sight.events), 8)
	if room < 1 {
		return nil
	}
	lines := [][]cell{nil, {{"HAPPENED", strongText}}}
	for _, e := range f.sight.events[len(f.sight.events)-room:] {
		lines = append(lines, []cell{{e.Time.In(f.sight.at.Location()).Format("15:04:05 "), faintText}, {eventWords(e), plainText}})
	}
	return lines
}
