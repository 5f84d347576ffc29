package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

func newCheck(o *options) *cobra.Command {
	var k check
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Tell every problem of a configuration, or what it says",
		Long: `Tell every problem of a configuration, each with its file, line and column, or sum up what it says.

Where places have a capacity, it also tells what each place carries, and what it would carry if any one
were lost or drained; and it warns of those that would be filled to more than 75%. Services say their
demand in the same unit. Clients come from a file, as those of gslb diff, or stand for the address space.

Nothing is touched but the configuration's files and the files that it names; the exit code is 1 when there are errors.`,
		Args: oneAtMost("configuration"),
		RunE: func(c *cobra.Command, args []string) error {
			k.file = o.file
			if len(args) == 1 {
				k.file = args[0]
			}
			return k.run(c)
		},
	}
	c.Flags().StringVar(&k.clients, "clients", "", "`file` of clients, to spread the demand by: ADDRESS [COUNT] a line")
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
	File     string      `json:"file"`
	Config   string      `json:"config"`
	Good     bool        `json:"good"`
	Problems []string    `json:"problems"` // warnings, too
	Capacity *capacities `json:"capacity,omitempty"`
}

func (k check) run(c *cobra.Command) error {
	cfg, policy, problems := load(k.file)
	wrong, lines := len(mistakes(problems)), texts(problems)
	world, err := openGeo(cfg)
	for _, err := range append(ready(cfg, policy), err) {
		if err != nil {
			lines = append(lines, err.Error())
			wrong++
		}
	}
	var room *capacities
	if wrong == 0 {
		if room, err = reckon(cfg, policy, world, k.clients, time.Now()); err != nil {
			return err
		}
		lines = append(lines, texts(slices.Concat(fitNobody(cfg, world), keyless(cfg, policy), room.warnings(cfg)))...)
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
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", k.file, count(wrong, "error"))
		return errTold
	case wrong > 0:
		return errTold
	case !k.json:
		summary{cfg, policy, time.Now()}.write(c.OutOrStdout())
		room.write(c.OutOrStdout())
	}
	return nil
}

// openGeo reads the geo databases that a configuration names.
func openGeo(cfg *config.Config) (*geo.Map, error) {
	world, err := geo.Open(geo.Files(cfg.Geo))
	if err != nil {
		return nil, located(cfg, "geo", err)
	}
	return world, nil
}

// summary puts into words what a good configuration says.
type summary struct {
	cfg    *config.Config
	policy *steer.Policy
	now    time.Time
}

func (s summary) write(w io.Writer) {
	fmt.Fprintf(w, "%s is good: config %s\n", s.cfg.File, s.cfg.Hash())
	t := newTable(w, "  ")
	t.row("zones", s.zones())
	t.row("services", s.services())
	t.row("places", s.places())
	t.row("partners", s.partners())
	t.row("checks", s.checks())
	t.row("drains", s.drains())
	t.row("answers on", addresses(s.cfg.Server.Listen))
	t.flush()
}

// maxNamed bounds how many things are named one by one.
const maxNamed = 6

// listed gives the number of things, with the first of them in words.
func listed[T any](all []T, word func(T) string) string {
	if len(all) == 0 {
		return "none"
	}
	var words []string
	for _, x := range all[:min(len(all), maxNamed)] {
		words = append(words, word(x))
	}
	if more := len(all) - maxNamed; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d: %s", len(all), strings.Join(words, ", "))
}

func (s summary) zones() string {
	return listed(s.cfg.Zones, func(z config.Zone) string {
		return fmt.Sprintf("%s (%s to services)", strings.TrimSuffix(z.Name, "."), count(len(z.Services), "name"))
	})
}

func (s summary) services() string {
	return listed(s.cfg.Services, func(svc config.Service) string {
		return fmt.Sprintf("%s (at %s)", svc.Name, count(len(svc.At), "place"))
	})
}

func (s summary) places() string {
	var datacenters, sites int
	for _, p := range s.cfg.Places {
		if p.Kind == config.Datacenter {
			datacenters++
		} else {
			sites++
		}
	}
	return fmt.Sprintf("%s, %s", count(datacenters, "datacenter"), count(sites, "site"))
}

func (s summary) partners() string {
	return listed(s.cfg.Partners, func(p config.Partner) string {
		var brings []string
		if len(p.Peers) > 0 {
			brings = append(brings, count(len(p.Peers), "peer"))
		}
		if len(p.Networks) > 0 || len(p.Peers) == 0 {
			brings = append(brings, count(len(p.Networks), "network"))
		}
		return fmt.Sprintf("%s (%s to %s)", p.Name, strings.Join(brings, " and "), p.Site)
	})
}

func (s summary) checks() string {
	probes := map[health.Key]bool{}
	for _, t := range s.policy.Targets() {
		probes[t.Key()] = true
	}
	endpoints, unchecked := 0, 0
	for _, svc := range s.cfg.Services {
		for _, m := range svc.At {
			endpoints += len(m.Endpoints)
			if m.Checks == nil {
				unchecked += len(m.Endpoints)
			}
		}
	}
	words := fmt.Sprintf("%s of %s", count(len(probes), "probe"), count(endpoints-unchecked, "endpoint"))
	if unchecked > 0 {
		words += fmt.Sprintf("; %s without a check, always healthy", count(unchecked, "endpoint"))
	}
	return words
}

func (s summary) drains() string {
	return listed(s.cfg.Drains, func(d config.Drain) string {
		words := d.Target
		if d.Service != "" {
			words += " for " + d.Service
		}
		switch {
		case d.Over(s.now):
			words += " (over)"
		case !d.Until.IsZero():
			words += " until " + stampText(d.Until)
		}
		return words
	})
}
