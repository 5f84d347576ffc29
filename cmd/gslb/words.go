package main

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"
	"time"
)

// count gives a number of things, with their name in singular or plural.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// stampText writes a point in time as configurations and reasons do.
func stampText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func addresses(all []netip.AddrPort) string {
	if len(all) == 0 {
		return "none"
	}
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = a.String()
	}
	return strings.Join(words, ", ")
}

// table aligns columns.
type table struct {
	w      *tabwriter.Writer
	indent string
}

func newTable(w io.Writer, indent string) table {
	return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), indent}
}

// row writes one line; a last cell that is empty leaves no blanks behind.
func (t table) row(cells ...string) {
	fmt.Fprintln(t.w, t.indent+strings.Join(cells, "\t"))
}

func (t table) flush() { _ = t.w.Flush() }
