package main

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb/dns/admin"
)

func newEvents(o *options) *cobra.Command {
	var since time.Duration
	var limit int
	var place, service string
	var asJSON bool
	c := &cobra.Command{
		Use:   "events",
		Short: "Tell what happened: withdrawals, drains, reloads",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
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
			for _, e := range events {
				fmt.Fprintln(c.OutOrStdout(), e.Time.Local().Format("2006-01-02 15:04:05"), eventWords(e))
			}
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

// eventWords is the text of an event, with the address where a place may have several.
func eventWords(e admin.Event) string {
	if endpoint := e.Fields["endpoint"]; endpoint != "" && !strings.Contains(e.Text, endpoint) {
		return e.Text + " (" + endpoint + ")"
	}
	return e.Text
}
