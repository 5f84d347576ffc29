package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/admin"
)

// Bounds of how often gslb top looks.
const (
	topInterval = time.Second
	topLeast    = 100 * time.Millisecond
)

func newTop(o *options) *cobra.Command {
	var interval time.Duration
	var once bool
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch the running server: answers by service and place, failures, sessions, events",
		Long: `Watch the running server in a terminal. q ends it.

When the output is not a terminal, or $TERM is dumb, or --once is given, it looks twice, prints one screen and ends.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if interval < topLeast {
				return usagef("--interval %s: at least %s", interval, topLeast)
			}
			server, err := findServer(o.file)
			if err != nil {
				return err
			}
			w := &topWatch{server: server, interval: interval, plain: os.Getenv("NO_COLOR") != ""}
			if once {
				return w.once(c)
			}
			screen, err := openScreen(c.InOrStdin(), c.OutOrStdout())
			if err != nil {
				return w.once(c)
			}
			defer screen.Close()
			return w.run(c.Context(), screen)
		},
	}
	c.Flags().DurationVar(&interval, "interval", topInterval, "look every `span`")
	c.Flags().BoolVar(&once, "once", false, "print one screen and end")
	return c
}

// topWatch looks at a server again and again.
type topWatch struct {
	server   client
	interval time.Duration
	plain    bool // without colours

	last *sheet.Sight
}

// look asks the server for everything.
func (w *topWatch) look(ctx context.Context) (*sheet.Sight, error) {
	s := &sheet.Sight{At: time.Now(), Before: w.last}
	var err error
	if s.Status, err = get[admin.Status](ctx, w.server, "/v1/status", url.Values{"limit": {"1"}}); err != nil {
		return nil, err
	}
	services, err := get[admin.Services](ctx, w.server, "/v1/services", url.Values{"limit": {"1000"}})
	if err != nil {
		return nil, err
	}
	failing, err := get[admin.Endpoints](ctx, w.server, "/v1/endpoints", url.Values{"verdict": {"failing"}, "limit": {"50"}})
	if err != nil {
		return nil, err
	}
	partners, err := get[admin.Partners](ctx, w.server, "/v1/partners", nil)
	if err != nil {
		return nil, err
	}
	s.Services, s.Failing, s.Partners = services.Services, failing.Endpoints, partners.Partners
	s.Events, err = get[[]admin.Event](ctx, w.server, "/v1/events", url.Values{"limit": {"20"}})
	if err == nil {
		w.last = s
		if s.Before != nil { // a rate needs two sights, not a chain of them
			s.Before.Before = nil
		}
	}
	return s, err
}

// once prints one screen.
func (w *topWatch) once(c *cobra.Command) error {
	if _, err := w.look(c.Context()); err != nil {
		return err
	}
	pause(c.Context(), w.interval)
	s, err := w.look(c.Context())
	if err != nil {
		return err
	}
	fmt.Fprint(c.OutOrStdout(), sheet.Top{Sight: s, Plain: true, Width: 120, Height: 1000}.String())
	return nil
}

// run draws until q is pressed or ctx ends. A server that is not there for a while is told, and waited for.
func (w *topWatch) run(ctx context.Context, screen *screen) error {
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for {
		s, err := w.look(ctx)
		width, height := screen.size()
		f := sheet.Top{Sight: s, Plain: w.plain, Width: width, Height: height}
		if err != nil {
			f.Sight, f.Trouble = w.last, err.Error()
		}
		if err := screen.draw(f.String()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case key, open := <-screen.keys:
			if !open || key == 'q' || key == 'Q' || key == 3 {
				return nil
			}
		case <-tick.C:
		}
	}
}
