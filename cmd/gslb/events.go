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
	var e events
	c := &cobra.Command{
		Use:   "events",
		Short: "Show what happened: withdrawals, drains, reloads",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			e.file = o.file
			return e.run(c)
		},
	}
	c.Flags().DurationVar(&e.since, "since", 0, "only what happened in this `span` before now, as 1h")
	c.Flags().StringVar(&e.place, "place", "", "only what happened to this `place`")
	c.Flags().StringVar(&e.service, "service", "", "only what happened to this `service`, its places and its endpoints")
	c.Flags().IntVar(&e.limit, "limit", 100, "at most this `number` of the newest events")
	c.Flags().BoolVar(&e.json, "json", false, "print JSON")
	return c
}

// events is one call of the command.
type events struct {
	file           string
	since          time.Duration
	limit          int
	place, service string
	json           bool
}

func (e events) run(c *cobra.Command) error {
	switch {
	case e.limit < 1 || e.limit > admin.MostEvents:
		return usagef("--limit %d: not from 1 to %d", e.limit, admin.MostEvents)
	case e.since < 0 || e.since == 0 && c.Flags().Changed("since"):
		return usagef("--since %s: a span before now, such as 1h", e.since)
	}
	query := url.Values{"limit": {strconv.Itoa(e.limit)}}
	if e.since != 0 {
		query.Set("since", e.since.String())
	}
	if e.place != "" {
		query.Set("place", e.place)
	}
	if e.service != "" {
		query.Set("service", e.service)
	}
	server, err := findServer(e.file)
	if err != nil {
		return err
	}
	found, err := get[[]admin.Event](c.Context(), server, "/v1/events", query)
	if err != nil {
		return err
	}
	if e.json {
		return writeJSON(c.OutOrStdout(), found)
	}
	sheet.Events(c.OutOrStdout(), found, time.Local)
	return nil
}
