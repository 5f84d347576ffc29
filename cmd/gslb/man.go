package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write manual pages of all commands into a folder",
		Long: `Write a manual page of every command into a folder, made from what --help prints.

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
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("write the pages into %s: %w", args[0], err)
			}
			return nil
		},
	}
}
