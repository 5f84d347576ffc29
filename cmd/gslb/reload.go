package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gslb/dns/admin"
)

func newReload(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Make the running server read its configuration again, and wait for the outcome",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			outcome, err := server.reload(c.Context())
			if err != nil {
				return err
			}
			for _, line := range append(outcome.Problems, outcome.Warnings...) {
				fmt.Fprintln(c.ErrOrStderr(), line)
			}
			return tellReload(c, outcome)
		},
	}
}

func tellReload(c *cobra.Command, outcome admin.Reload) error {
	name := fmt.Sprintf("%d:%s", outcome.Number, outcome.Hash)
	switch outcome.Outcome {
	case admin.Applied:
		fmt.Fprintf(c.OutOrStdout(), "config %s is in force\n", name)
	case admin.Unchanged:
		fmt.Fprintf(c.OutOrStdout(), "config %s is in force already: nothing has changed\n", name)
	default:
		fmt.Fprintf(c.ErrOrStderr(), "refused: config %s stays in force\n", name)
		return errTold
	}
	return nil
}
