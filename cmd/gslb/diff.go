package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/traffic"
)

func newDiff() *cobra.Command {
	var d diff
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show which clients would move from one configuration to another",
		Long: `Show which clients would move if the second configuration replaced the first: how many, from where to
where, by service, place, partner and country.

Every client asks every service once for its IPv4 and once for its IPv6 addresses, where it has any, or for
its alias (CNAME) or its SRV records. The clients come from a file, one on a line: ADDRESS [COUNT]. A private
address is a client that asks directly from there, as in gslb explain. Without a file the clients stand for
the address space: a sample, the same each time, of what the geo databases cover and the configurations name.

A server also decides by health and by what partners announce, and no configuration holds these. Here
everything is up, and partners have the networks that the configuration lists. Where places are drawn by
weight, the comparison is of what a client can expect, not of one draw.

Exit codes: 0 nothing moves, 3 something moves, 1 a configuration or the file of clients is bad, 2 usage.`,
		Example: `  gslb diff /etc/gslb/gslb.yaml gslb.yaml --clients clients.txt
  gslb diff old.yaml new.yaml --json | jq '.services[] | select(.moved > 0.1) | .service'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("which two configurations? gslb diff OLD NEW")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if d.sample < 1 || d.sample > mostSampled {
				return usagef("--sample %d: not from 1 to %d", d.sample, mostSampled)
			}
			if d.clients != "" && c.Flags().Changed("sample") {
				return usagef("--clients or --sample, not both")
			}
			return d.run(c, args[0], args[1])
		},
	}
	c.Flags().StringVar(&d.clients, "clients", "", "`file` of clients; a line is ADDRESS [COUNT]")
	c.Flags().IntVar(&d.sample, "sample", 100_000, "how many clients stand for the address space, about this `number`")
	c.Flags().BoolVar(&d.json, "json", false, "print JSON")
	return c
}

// mostSampled bounds a sample: it is held in memory.
const mostSampled = 20_000_000

// diff is one call of the command.
type diff struct {
	clients string
	sample  int
	json    bool
}

// candidate is one of the two configurations.
type candidate struct {
	cfg      *config.Config
	policy   *steer.Policy
	snapshot *steer.Snapshot
}

func (d diff) run(c *cobra.Command, old, later string) error {
	var clients []traffic.Crowd
	if d.clients != "" {
		var err error
		if clients, err = openCrowds(d.clients); err != nil {
			return err
		}
	}
	before, after, err := openCandidates(c, old, later)
	if err != nil {
		return err
	}
	if d.clients == "" {
		clients = traffic.Sample(before.snapshot, after.snapshot, d.sample)
	}
	comparison := traffic.Compare(before.snapshot, after.snapshot, clients)
	m := sheet.MovesOf(before.cfg, after.cfg, comparison, sheet.Clients{File: d.clients, Addresses: len(clients), Weight: comparison.Weight})
	if d.json {
		err = writeJSON(c.OutOrStdout(), m)
	} else {
		m.Write(c.OutOrStdout())
	}
	if err == nil && !m.Still {
		return errMoves
	}
	return err
}

// openCandidates reads two configurations, and tells what is wrong with either. They share the geo map
// when they name the same databases.
func openCandidates(c *cobra.Command, old, later string) (before, after candidate, err error) {
	wrong := 0
	for i, e := range []*candidate{&before, &after} {
		var problems config.Problems
		e.cfg, e.policy, problems = load([]string{old, later}[i])
		for _, p := range mistakes(problems) {
			fmt.Fprintln(c.ErrOrStderr(), p)
			wrong++
		}
	}
	if wrong > 0 {
		return before, after, errTold
	}
	now := time.Now()
	world, err := openGeo(before.cfg)
	if err != nil {
		return before, after, err
	}
	before.snapshot = traffic.Sunny(before.policy, world, now)
	if after.cfg.Geo != before.cfg.Geo {
		if world, err = openGeo(after.cfg); err != nil {
			return before, after, err
		}
	}
	after.snapshot = traffic.Sunny(after.policy, world, now)
	return before, after, nil
}
