package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/traffic"
	"gslb/geo"
)

func newCheck(o *options) *cobra.Command {
	var k check
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Report every problem of a configuration, or sum up what it says",
		Long: `Report every problem of a configuration, each with its file, line and column, or sum up what it says.

Where places have a capacity, gslb check also shows what each place carries, and what it would carry if any
other were lost or drained; it warns of places that would be filled to more than 75%. Services give their
demand in the same unit. Clients come from a file, as for gslb diff, or stand for the address space.

Only the configuration's files and the files that it names are touched. The exit code is 1 when there are errors.`,
		Args: oneAtMost("configuration"),
		RunE: func(c *cobra.Command, args []string) error {
			k.file = o.file
			if len(args) == 1 {
				k.file = args[0]
			}
			return k.run(c)
		},
	}
	c.Flags().StringVar(&k.clients, "clients", "", "`file` of clients by whom the demand is spread; a line is ADDRESS [COUNT]")
	c.Flags().BoolVar(&k.json, "json", false, "print JSON")
	return c
}

// check is one call of the command.
type check struct {
	file    string
	clients string
	json    bool
}

// checked is what gslb check --json prints.
type checked struct {
	File     string            `json:"file"`
	Config   string            `json:"config"`
	Good     bool              `json:"good"`
	Problems []string          `json:"problems"` // warnings, too
	Capacity *sheet.Capacities `json:"capacity,omitempty"`
}

func (k check) run(c *cobra.Command) error {
	var crowds []traffic.Crowd
	if k.clients != "" {
		var err error
		if crowds, err = openCrowds(k.clients); err != nil {
			return err
		}
	}
	cfg, policy, problems := load(k.file)
	wrong, lines := len(mistakes(problems)), texts(problems)
	world, amiss := surroundings(cfg, policy, unread(k.file, problems) == nil)
	for _, err := range amiss {
		lines = append(lines, err.Error())
		wrong++
	}
	var room *sheet.Capacities
	if wrong == 0 {
		room = k.room(cfg, policy, world, crowds)
		if room == nil && crowds != nil {
			lines = append(lines, k.clients+": warning: is not used: no place has a capacity")
		}
		lines = append(lines, texts(slices.Concat(fitNobody(cfg, world), keyless(cfg, policy), peerless(cfg), room.Warnings(cfg)))...)
	}
	if k.json {
		if err := writeJSON(c.OutOrStdout(), checked{cfg.File, cfg.Hash(), wrong == 0, append([]string{}, lines...), room}); err != nil {
			return err
		}
	} else {
		for _, line := range lines {
			fmt.Fprintln(c.ErrOrStderr(), line)
		}
	}
	switch {
	case wrong > 0 && !k.json:
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", k.file, sheet.Count(wrong, "error"))
		return errTold
	case wrong > 0:
		return errTold
	case !k.json:
		sheet.Config(c.OutOrStdout(), time.Now(), cfg, policy)
		room.Write(c.OutOrStdout())
	}
	return nil
}

// surroundings reads the geo data that a configuration asks for, and tells what it needs of this machine and cannot have.
// One that could not be read asks for nothing.
func surroundings(cfg *config.Config, policy *steer.Policy, read bool) (*geo.Map, []error) {
	if !read {
		return nil, nil
	}
	amiss := ready(cfg, policy)
	world, err := openGeo(cfg)
	if err != nil {
		amiss = append(amiss, err)
	}
	return world, amiss
}

// room reckons what the places carry; nil when none has a capacity.
func (k check) room(cfg *config.Config, policy *steer.Policy, world *geo.Map, crowds []traffic.Crowd) *sheet.Capacities {
	if !slices.ContainsFunc(cfg.Places, func(p config.Place) bool { return p.Capacity > 0 }) {
		return nil
	}
	return sheet.Reckon(cfg, traffic.Sunny(policy, world, time.Now()), k.clients, crowds)
}

// openGeo reads the geo databases that a configuration names.
func openGeo(cfg *config.Config) (*geo.Map, error) {
	world, err := geo.Open(geo.Files(cfg.Geo))
	if err != nil {
		return nil, located(cfg, "geo", err)
	}
	return world, nil
}
