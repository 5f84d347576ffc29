package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write manual pages of all commands into a folder",
		Long: `Write a manual page for every command into a folder, made from what --help prints.

$SOURCE_DATE_EPOCH, if set, is their date.`,
		Example: "  gslb man /usr/local/share/man/man1",
		Args:    one("folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("make the folder for the pages: %w", err)
			}
			header := &doc.GenManHeader{Title: "GSLB", Section: "1", Source: "gslb " + version, Manual: "Global DNS traffic manager"}
			root := c.Root()
			root.DisableAutoGenTag = true
			asManual(root)
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("write the pages into %s: %w", args[0], err)
			}
			return nil
		},
	}
}

// asManual turns the texts of all commands into what the generator of pages reads: Markdown, in which an indent of two
// spaces does not keep lines from being filled.
func asManual(c *cobra.Command) {
	c.Long = markdown(c.Long)
	for _, sub := range c.Commands() {
		asManual(sub)
	}
}

// markdown makes code blocks of the indented lines of a help text.
func markdown(help string) string {
	var out strings.Builder
	was := ""
	for line := range strings.Lines(help) {
		indented := strings.HasPrefix(line, "  ")
		if was != "" && strings.TrimSpace(was) != "" && indented != strings.HasPrefix(was, "  ") && strings.TrimSpace(line) != "" {
			out.WriteString("\n") // a block stands by itself
		}
		if indented {
			out.WriteString("  ")
		}
		out.WriteString(line)
		was = line
	}
	return out.String()
}
