package sheet

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table aligns columns.
type Table struct {
	w      *tabwriter.Writer
	indent string
}

// NewTable begins a table whose rows are indented.
func NewTable(w io.Writer, indent string) Table {
	return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), indent}
}

// Row adds a row; a last cell that is empty leaves no blanks behind.
func (t Table) Row(cells ...string) {
	fmt.Fprintln(t.w, t.indent+strings.Join(cells, "\t"))
}

// Flush writes the rows, once their widths are known.
func (t Table) Flush() { _ = t.w.Flush() }
