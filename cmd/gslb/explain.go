package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"gslb/dns/admin"
	"gslb/dns/traffic"
	"gslb/geo"
)

func newExplain(o *options) *cobra.Command {
	var q admin.Question
	var offline, asJSON bool
	c := &cobra.Command{
		Use:   "explain NAME",
		Short: "Show which sites a client gets, and why",
		Long: `Show which sites a client gets from a name, and why: the lines that "dig CH TXT NAME" prints.

The running server is asked, or with --offline the configuration alone, as if everything were up.

The client is given to the server as the subnet that its resolver would send (ECS). Servers ignore such a
subnet when it is private, so a private client counts as one that asks directly, as in gslb diff: via=source.`,
		Example: "  gslb explain www.ok.test --client 203.0.113.7",
		Args:    one("name"),
		RunE: func(c *cobra.Command, args []string) error {
			q.Name = args[0]
			ask := askServer
			if offline {
				ask = askConfig
			}
			e, err := ask(c, o.file, q)
			if bad := (*admin.BadQuestion)(nil); errors.As(err, &bad) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), e)
			}
			for _, line := range e.Text {
				fmt.Fprintln(c.OutOrStdout(), line)
			}
			return nil
		},
	}
	c.Flags().StringVar(&q.Client, "client", "", "`address` or network of the client; without it, this machine")
	c.Flags().StringVar(&q.Type, "type", "", "A or AAAA: show only what this type gets")
	c.Flags().BoolVar(&offline, "offline", false, "ask the configuration alone, as if everything were up")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func askServer(c *cobra.Command, file string, q admin.Question) (admin.Explanation, error) {
	if err := q.Check(); err != nil {
		return admin.Explanation{}, err
	}
	server, err := findServer(file)
	if err != nil {
		return admin.Explanation{}, err
	}
	query := url.Values{"name": {q.Name}, "client": {q.Client}, "type": {q.Type}}
	return get[admin.Explanation](c.Context(), server, "/v1/explain", query)
}

func askConfig(c *cobra.Command, file string, q admin.Question) (admin.Explanation, error) {
	if err := q.Check(); err != nil {
		return admin.Explanation{}, err
	}
	cfg, policy, err := loadGood(file, c.ErrOrStderr())
	if err != nil {
		return admin.Explanation{}, err
	}
	world, err := geo.Open(geo.Files(cfg.Geo))
	if err != nil {
		return admin.Explanation{}, err
	}
	now := time.Now()
	return admin.Explain(traffic.Sunny(policy, world, now), q, now)
}

func writeJSON[T any](w io.Writer, value T) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
