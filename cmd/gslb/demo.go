package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gslb/cmd/gslb/demo"
)

func newDemo() *cobra.Command {
	var interval time.Duration
	var folder string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Try all of it on this machine: datacenters to break, a partner, and a name server to ask",
		Long: `Start three small datacenters, a CDN site inside a partner's network, the partner's BGP router, and a
name server, all on loopback addresses; tell what to try; and show what changes, until Ctrl-C. Nothing
else is needed, and nothing is left behind.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if folder != "" {
				return attendDemo(c, folder)
			}
			if interval < 10*time.Millisecond || interval > time.Minute {
				return usagef("--interval %s: not from 10ms to 1m", interval)
			}
			return runDemo(c, interval)
		},
	}
	c.Flags().DurationVar(&interval, "interval", demo.Interval, "time between the checks of a place")
	c.Flags().StringVar(&folder, "serve", "", "be the name server of the demo that has this `folder`")
	_ = c.Flags().MarkHidden("serve") // the flag stands one line above
	return c
}

func runDemo(c *cobra.Command, interval time.Duration) error {
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGHUP) // the terminal was closed
	defer stop()
	signal.Ignore(syscall.SIGTTIN) // in the background nothing can be typed, and that is no reason to halt
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return demo.Run(ctx, demo.Options{
		Program: program, In: c.InOrStdin(), Out: c.OutOrStdout(), Colour: colours(c.OutOrStdout()), Interval: interval,
	})
}

// attendDemo serves for a demo. Ctrl-C reaches this process too, and is for the demo to act on.
func attendDemo(c *cobra.Command, folder string) error {
	ctx, stop := signal.NotifyContext(context.WithoutCancel(c.Context()), syscall.SIGTERM)
	defer stop()
	log, err := newLog(c.ErrOrStderr(), "text", "info")
	if err != nil {
		return err
	}
	return demo.Attend(ctx, folder, c.InOrStdin(), func(ctx context.Context, config string) error {
		return serve(ctx, config, log, c.ErrOrStderr())
	})
}

// colours tells whether a terminal is written to that shows colours, and they are wanted (no-color.org).
func colours(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
