package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"gslb/dns/admin"
)

func newReset(o *options) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "reset PARTNER",
		Short: "Restart the sessions of a partner that are suspended or waiting",
		Long: `Restart the sessions of a partner that are suspended, as after too many prefixes, or are waiting for
their next attempt. Established sessions are left alone, unless --all is given: what was learned from
them then goes on steering, stale, until it is announced again.`,
		Args: one("partner"),
		RunE: func(c *cobra.Command, args []string) error {
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			query := url.Values{"partner": {args[0]}}
			if all {
				query.Set("all", "1")
			}
			var done admin.Reset
			if err := server.ask(c.Context(), http.MethodPost, "/v1/partners/reset", query, &done); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), done)
			}
			tellReset(c.OutOrStdout(), done)
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also the sessions that are established")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func tellReset(w io.Writer, done admin.Reset) {
	for _, p := range done.Peers {
		words := "begins anew, was " + p.State
		if !p.Begun {
			words = "left alone: it is " + p.State
		}
		fmt.Fprintf(w, "%s %s %s\n", done.Partner, p.Peer, words)
	}
	if len(done.Peers) == 0 {
		fmt.Fprintln(w, done.Partner+" has no peers")
	}
}
