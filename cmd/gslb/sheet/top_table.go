package sheet

import (
	"strings"
	"unicode/utf8"
)

// topTable is rows whose columns are as wide as what stands in them, so that as much as there is fits a small screen.
type topTable struct {
	heads []string // those that begin with a space stand on the right, as numbers do
	rows  [][]cell // each has a cell for every head
}

// lines gives the head and the rows, under an empty line.
func (t topTable) lines() [][]cell {
	widths := make([]int, len(t.heads))
	for i, head := range t.heads {
		widths[i] = utf8.RuneCountInString(strings.TrimPrefix(head, " "))
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	heads := make([]cell, len(t.heads))
	for i, head := range t.heads {
		heads[i] = cell{strings.TrimPrefix(head, " "), strongText}
	}
	lines := [][]cell{nil, t.line(heads, widths)}
	for _, row := range t.rows {
		lines = append(lines, t.line(row, widths))
	}
	return lines
}

func (t topTable) line(row []cell, widths []int) []cell {
	line := make([]cell, len(row))
	for i, c := range row {
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text))
		if strings.HasPrefix(t.heads[i], " ") {
			line[i] = cell{space + c.text + "  ", c.colour}
		} else {
			line[i] = cell{c.text + space + "  ", c.colour}
		}
	}
	return line
}
