package main

import (
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/admin"
)

func newStatusDrain(o *options) *cobra.Command {
	var asJSON, mustBeSafe bool
	c := &cobra.Command{
		Use:   "drain PLACE",
		Short: "Show how far clients have left a drained place, and whether it can be switched off",
		Long: `Show how far clients have left a drained place: since when it is drained, by whom and why, which answers still
give it, when caches forget it, how many clients have gone elsewhere, and what load its endpoints report.

The exit code is 1 when the place is not drained for all its services; with --safe also when it is not safe to
switch it off. It is safe only when its endpoints say so: when their checks report a load of 0.`,
		Example: "  gslb status drain msk-2\n  until gslb status drain msk-2 --safe; do sleep 10; done",
		Args:    one("place"),
		RunE: func(c *cobra.Command, args []string) error {
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			d, err := get[admin.Departure](c.Context(), server, "/v1/drains/"+url.PathEscape(args[0]), nil)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(c.OutOrStdout(), d)
			} else {
				sheet.Departure(c.OutOrStdout(), time.Now(), d)
			}
			if err == nil && (!d.Drained || mustBeSafe && !d.Safe) {
				return errTold
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&mustBeSafe, "safe", false, "exit code 1 unless it is safe to switch the place off")
	return c
}
