package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/admin"
)

// routesPage is how many prefixes are asked for at once: few enough to hold and to align.
const routesPage = 5000

func newRoutes(o *options) *cobra.Command {
	var q routesQuery
	var asJSON bool
	c := &cobra.Command{
		Use:   "routes [PREFIX|ADDRESS]",
		Short: "Show who announces which network, and whose announcement wins",
		Long: `Show who announces which network, and whose announcement wins; what is announced and not believed
with --refused. A prefix shows with the prefixes around it and inside it, an address with those that
hold it.

A route wins (wins), is behind the winners (spare), is a shadow partner's (shadow) or is not believed
(refused). With --json every prefix is an object on a line of its own.`,
		Example: `  gslb routes 203.0.113.7
  gslb routes --partner sibtel --refused
  gslb routes --json --limit 0 | jq -r 'select(.sites|length == 1).prefix'`,
		Args: oneAtMost("prefix or address"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := q.narrow(args); err != nil {
				return err
			}
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			if asJSON {
				return q.writeJSON(c.Context(), server, c.OutOrStdout())
			}
			return q.print(c.Context(), server, c.OutOrStdout(), time.Now())
		},
	}
	c.Flags().StringVar(&q.partner, "partner", "", "only prefixes that this `partner` announces")
	c.Flags().BoolVar(&q.refused, "refused", false, "show what is not believed, with the reason")
	c.Flags().IntVar(&q.limit, "limit", 100, "at most this `number` of prefixes; 0: all")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, one line for each prefix")
	return c
}

// routesQuery is what of the table is asked for.
type routesQuery struct {
	within  netip.Prefix // the zero Prefix: everything
	partner string
	refused bool
	limit   int // 0: all
}

// narrow takes the network that is asked about, and says when that or a flag makes no sense.
func (q *routesQuery) narrow(args []string) (err error) {
	if len(args) == 1 {
		if q.within, err = admin.ParseNetwork(args[0]); err != nil {
			return usageError{err}
		}
	}
	if q.limit < 0 {
		return usagef("--limit %d: not a number of prefixes, nor 0 for all", q.limit)
	}
	return nil
}

func (q routesQuery) values(size int, from string) url.Values {
	v := url.Values{"limit": {strconv.Itoa(size)}}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	set("partner", q.partner)
	set("from", from)
	if q.refused {
		v.Set("refused", "1")
	}
	if q.within.IsValid() {
		v.Set("prefix", q.within.String())
	}
	return v
}

// pages asks for one page after the other, and gives each to take. It tells whether there is more.
func (q routesQuery) pages(ctx context.Context, server client, take func(admin.Routes) error) (more bool, err error) {
	for from, left := "", q.limit; ; {
		size := routesPage
		if q.limit > 0 {
			size = min(size, left)
		}
		page, err := get[admin.Routes](ctx, server, "/v1/routes", q.values(size, from))
		if err != nil {
			return false, err
		}
		if err := take(page); err != nil {
			return false, err
		}
		left -= len(page.Prefixes)
		if page.Next == "" || q.limit > 0 && left <= 0 {
			return page.Next != "", nil
		}
		from = page.Next
	}
}

func (q routesQuery) writeJSON(ctx context.Context, server client, w io.Writer) error {
	_, err := q.pages(ctx, server, func(page admin.Routes) error {
		out := json.NewEncoder(w)
		for _, p := range page.Prefixes {
			if err := out.Encode(p); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (q routesQuery) print(ctx context.Context, server client, w io.Writer, now time.Time) error {
	shown, table := 0, 0
	more, err := q.pages(ctx, server, func(page admin.Routes) error {
		if len(page.Prefixes) > 0 {
			sheet.Routes(w, now, page.Prefixes)
		}
		shown, table = shown+len(page.Prefixes), page.Table
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case shown == 0:
		fmt.Fprintln(w, q.nothing(table))
	case more:
		fmt.Fprintf(w, "\nThese are the first %d; the table has %s. Name a prefix, an address or a --partner, or set --limit.\n", shown, sheet.Prefixes(table))
	}
	if q.within.IsValid() || q.refused {
		return nil
	}
	all, err := get[admin.Partners](ctx, server, "/v1/partners", nil)
	if err != nil {
		return err
	}
	var of []admin.Partner
	for _, p := range all.Partners {
		if q.partner == "" || q.partner == p.Partner {
			of = append(of, p)
		}
	}
	sheet.Backing(w, of)
	return nil
}

// nothing says that nothing is found.
func (q routesQuery) nothing(table int) string {
	if table > 0 && !q.refused && !q.within.IsValid() && q.partner == "" {
		return fmt.Sprintf("No routes: of the %s that are announced all are refused. gslb routes --refused tells why.", sheet.Prefixes(table))
	}
	words := "No routes"
	if q.refused {
		words = "Nothing is refused"
	}
	if q.within.IsValid() {
		words += " around " + q.within.String()
	}
	if q.partner != "" {
		words += " of " + q.partner
	}
	return fmt.Sprintf("%s; the table has %s.", words, sheet.Prefixes(table))
}
