package main

import (
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/admin"
)

func newEvents(o *options) *cobra.Command {
	var since time.Duration
	var limit int
	var place, service string
	var asJSON bool
	c := &cobra.Command{
		Use:   "events",
		Short: "Show what happened: withdrawals, drains, reloads",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case limit < 1 || limit > admin.MostEvents:
				return usagef("--limit %d: not from 1 to %d", limit, admin.MostEvents)
			case since < 0 || since == 0 && c.Flags().Changed("since"):
				return usagef("--since %s: a span before now, such as 1h", since)
			}
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			if since != 0 {
				query.Set("since", since.String())
			}
			if place != "" {
				query.Set("place", place)
			}
			if service != "" {
				query.Set("service", service)
			}
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			events, err := get[[]admin.Event](c.Context(), server, "/v1/events", query)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), events)
			}
			sheet.Events(c.OutOrStdout(), events, time.Local)
			return nil
		},
	}
	c.Flags().DurationVar(&since, "since", 0, "only what happened in this `span` before now, as 1h")
	c.Flags().StringVar(&place, "place", "", "only what happened to this `place`")
	c.Flags().StringVar(&service, "service", "", "only what happened to this `service`, its places and its endpoints")
	c.Flags().IntVar(&limit, "limit", 100, "at most this `number` of the newest events")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
