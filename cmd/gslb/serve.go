package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gslb/config"
)

func newServe(o *options) *cobra.Command {
	var format, level string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer DNS questions",
		Long: `Answer DNS questions, until SIGINT or SIGTERM.

The configuration is read again when one of its files changes, on SIGHUP and on "gslb reload". One
that has problems changes nothing. The DNS sockets open when every check has had its first result.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGHUP) // it would end the process, and asks for what is still to come
			cfg, _ := config.Load(o.file) // what is wrong with it is told by serve
			log, err := newLog(c.ErrOrStderr(), cmp.Or(format, cfg.Server.Log.Format, "text"), cmp.Or(level, cfg.Server.Log.Level, "info"))
			if err != nil {
				return err
			}
			return serve(c.Context(), o.file, log, c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&format, "log-format", "", "text or json; without the flag server.log.format")
	c.Flags().StringVar(&level, "log-level", "", "debug, info, warn or error; without the flag server.log.level")
	return c
}

// serve runs a server until ctx ends. The problems of its configuration are written one a line.
func serve(ctx context.Context, file string, log *slog.Logger, complaints io.Writer) error {
	// Where QUIC's sockets get less memory than its library wants, it would say so past our log.
	if err := os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true"); err != nil {
		return err
	}
	sockets, err := handed()
	if err != nil {
		return err
	}
	d, problems, err := newDaemon(file, log)
	for _, p := range mistakes(problems) {
		fmt.Fprintln(complaints, p)
	}
	if len(mistakes(problems)) > 0 {
		return errTold
	}
	if err != nil {
		return err
	}
	d.workers = makeRoom() // after the start, which takes all processors
	d.herald = newHerald()
	if err := d.server.Inherit(sockets); err != nil {
		return errors.Join(err, d.close())
	}
	return d.Run(ctx)
}

func newLog(w io.Writer, format, level string) (*slog.Logger, error) {
	var o slog.HandlerOptions
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, usagef("--log-level %q: not one of debug, info, warn, error", level)
	}
	o.Level = least
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, &o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &o)), nil
	}
	return nil, usagef("--log-format %q: not one of text, json", format)
}
