package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Every page of help can be read in a window of usual width.
func TestHelpFitsAWindow(t *testing.T) {
	const most = 120
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Name() == "completion" { // cobra's own pages
			return
		}
		var page bytes.Buffer
		c.InitDefaultHelpFlag()
		c.SetOut(&page)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(page.String()) {
			if n := utf8.RuneCountInString(line); n > most {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&options{}))
}
