package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/admin"
)

func newStatus(o *options) *cobra.Command {
	var asJSON bool
	var service, place string
	c := &cobra.Command{
		Use:   "status",
		Short: "Show how the running server and every service stand",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			s, err := wholeStatus(c.Context(), server, url.Values{"service": {service}, "place": {place}})
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), s)
			}
			sheet.Status(c.OutOrStdout(), time.Now(), s)
			switch {
			case len(s.Services) > 0 || place == "":
			case service == "":
				fmt.Fprintf(c.OutOrStdout(), "\nNo service is at %s.\n", place)
			default:
				fmt.Fprintf(c.OutOrStdout(), "\n%s is not at %s.\n", service, place)
			}
			return nil
		},
	}
	c.Flags().StringVar(&service, "service", "", "only this `service`")
	c.Flags().StringVar(&place, "place", "", "only services of this `place`")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(newStatusDrain(o))
	return c
}

// wholeStatus puts the pages of a status together.
func wholeStatus(ctx context.Context, server client, query url.Values) (admin.Status, error) {
	query.Set("limit", "1000")
	whole, err := get[admin.Status](ctx, server, "/v1/status", query)
	for err == nil && whole.Next != "" {
		query.Set("from", whole.Next)
		var page admin.Status
		page, err = get[admin.Status](ctx, server, "/v1/status", query)
		whole.Services, whole.Next = append(whole.Services, page.Services...), page.Next
	}
	return whole, err
}
