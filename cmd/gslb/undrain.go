package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"gslb/config"
)

func newUndrain(o *options) *cobra.Command {
	var service string
	c := &cobra.Command{
		Use:   "undrain PLACE",
		Short: "End a drain that gslb drain began on this server",
		Args:  one("place"),
		RunE: func(c *cobra.Command, args []string) error {
			place := args[0]
			cfg, problems := config.Load(o.file)
			if err := unread(o.file, problems); err != nil {
				return err
			}
			if !drained(cfg, place, service) {
				if err := known(cfg, place, service); err != nil {
					return errors.Join(mistakes(problems).Err(), err)
				}
			}
			path, err := config.RemoveDrain(o.file, place, service)
			if path != "" {
				fmt.Fprintf(c.OutOrStdout(), "removed %s\n", path)
			}
			if err != nil {
				tellRest(c.ErrOrStderr(), o.file, place, service)
				return err
			}
			words := place + " is no longer drained"
			if service != "" {
				words += " for " + service
			}
			if err := followUp(c, o.file, words); err != nil {
				return err
			}
			tellRest(c.OutOrStdout(), o.file, place, service)
			return nil
		},
	}
	c.Flags().StringVar(&service, "service", "", "end the drain for this `service` only")
	return c
}

func drained(cfg *config.Config, place, service string) bool {
	for _, d := range cfg.Drains {
		if d.Target == place && d.Service == service {
			return true
		}
	}
	return false
}

// tellRest names the drains of a place that hold on, beside the one for a service, or for all of them.
func tellRest(w io.Writer, file, place, service string) {
	cfg, _ := config.Load(file)
	for _, d := range cfg.Drains {
		if d.Target != place || d.Service == service || d.Over(time.Now()) {
			continue
		}
		what := "still drained"
		if d.Service != "" {
			what += " for " + d.Service
		}
		fmt.Fprintf(w, "%s is %s: %s\n", place, what, d.Pos)
	}
}
