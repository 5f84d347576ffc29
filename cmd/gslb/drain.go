package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/config"
	"gslb/dns/admin"
	"gslb/dns/traffic"
	"gslb/geo"
)

func newDrain(o *options) *cobra.Command {
	d := drain{file: &o.file}
	c := &cobra.Command{
		Use:   "drain PLACE",
		Short: "Keep a place out of the answers of this server",
		Long: `Keep a place out of the answers of this server, by a file in the drop-in folder of its configuration.

The drain is in force in less than a second, and outlives a restart. It is for this server only; with
--print its text is printed instead, for the configuration management of all servers. An earlier drain of
the same place that this command wrote is replaced.

A drain that would leave a service without a serving place, or with fewer than its min_places, is refused,
unless --force or --force=WHY says that it must be. WHY is written into the drain.`,
		Example: "  gslb drain msk-2 --for 2h --reason \"cooling work\"",
		Args:    one("place"),
		RunE: func(c *cobra.Command, args []string) error {
			d.Target = args[0]
			return d.run(c)
		},
	}
	c.Flags().StringVar(&d.Service, "service", "", "only for this `service`")
	c.Flags().DurationVar(&d.span, "for", 0, "end after this `span`, as 2h")
	c.Flags().StringVar(&d.Reason, "reason", "", "why; shown in the reasons for answers")
	c.Flags().StringVar(&d.By, "by", cmp.Or(os.Getenv("SUDO_USER"), os.Getenv("USER")), "who drains")
	c.Flags().Lookup("by").DefValue = "the user, also behind sudo" // pages that are made from this do not name who made them
	c.Flags().BoolVar(&d.Hard, "hard", false, "do not give the place even when nobody else serves")
	c.Flags().BoolVar(&d.print, "print", false, "print the text of the drain, and write nothing")
	c.Flags().StringVar(&d.Force, "force", "", "drain all the same; `why` a service may have too few places, or none")
	c.Flags().Lookup("force").NoOptDefVal = forcedByFlag
	return c
}

// forcedByFlag is the force of a drain by --force alone, when it has no reason either.
const forcedByFlag = "gslb drain --force"

// drain is one call of the command.
type drain struct {
	config.Drain
	file  *string
	span  time.Duration
	print bool
}

func (d *drain) run(c *cobra.Command) error {
	if d.span < 0 || (d.span == 0 && c.Flags().Changed("for")) {
		return usagef("--for %s: the drain would be over before it begins", d.span)
	}
	if d.span > 0 {
		d.Until = time.Now().Add(d.span).Round(time.Second)
	}
	if d.Force == forcedByFlag && d.Reason != "" {
		d.Force = d.Reason
	}
	cfg, problems := config.Load(*d.file)
	if err := unread(*d.file, problems); err != nil {
		return err
	}
	if err := known(cfg, d.Target, d.Service); err != nil {
		return errors.Join(mistakes(problems).Err(), err)
	}
	if d.print {
		text, err := config.DrainFile(d.Drain)
		if err == nil {
			_, err = c.OutOrStdout().Write(text)
		}
		return err
	}
	if wrong := mistakes(problems); len(wrong) > 0 && d.Force == "" {
		return fmt.Errorf("the configuration has errors, so that a drain would not be taken up (see gslb check):\n%s", wrong.Err())
	}
	if d.Force == "" {
		if err := d.leavesEnough(c, cfg); err != nil {
			return err
		}
	}
	path, err := config.WriteDrain(*d.file, d.Drain)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "wrote %s\n", path)
	d.tellReplaced(c, cfg, path)
	return followUp(c, *d.file, d.words())
}

// tellReplaced tells of the drain that stood where this one stands now.
func (d *drain) tellReplaced(c *cobra.Command, before *config.Config, path string) {
	for _, old := range before.Drains {
		if old.Pos.File != path || old.Over(time.Now()) {
			continue
		}
		words := "in place of a drain"
		if !old.Until.IsZero() {
			words += " until " + sheet.Stamp(old.Until)
		}
		for _, more := range []string{old.Reason, old.By} {
			if more != "" {
				words += ", " + more
			}
		}
		fmt.Fprintln(c.OutOrStdout(), words)
	}
}

func (d *drain) words() string {
	words := d.Target + " is drained"
	if d.Service != "" {
		words += " for " + d.Service
	}
	if !d.Until.IsZero() {
		words += " until " + sheet.Stamp(d.Until)
	}
	return words
}

// known says when there is no such place, or it has no part in the service.
func known(cfg *config.Config, place, service string) error {
	var places []string
	for _, p := range cfg.Places {
		places = append(places, p.Name)
	}
	if !slices.Contains(places, place) {
		return unknown("place", place, places)
	}
	if service == "" {
		return nil
	}
	services := map[string]config.Service{}
	for _, s := range cfg.Services {
		services[s.Name] = s
	}
	s, ok := services[service]
	if !ok {
		return unknown("service", service, slices.Sorted(maps.Keys(services)))
	}
	if !slices.ContainsFunc(s.At, func(m config.Member) bool { return m.Place == place }) {
		at := make([]string, len(s.At))
		for i, m := range s.At {
			at[i] = m.Place
		}
		return fmt.Errorf("service %s is not at %s: it is at %s", service, place, strings.Join(at, ", "))
	}
	return nil
}

// fewNames is how many names an error lists.
const fewNames = 8

func unknown(thing, word string, all []string) error {
	switch near := config.Suggest(word, all); {
	case near != "":
		return fmt.Errorf("there is no %s %q (did you mean %s?)", thing, word, near)
	case len(all) == 0:
		return fmt.Errorf("there is no %s %q, nor any other", thing, word)
	case len(all) == 1:
		return fmt.Errorf("there is no %s %q; there is %s", thing, word, all[0])
	case len(all) <= fewNames:
		return fmt.Errorf("there is no %s %q; there are %s", thing, word, strings.Join(all, ", "))
	}
	return fmt.Errorf("there is no %s %q; there are %s and %d others", thing, word, strings.Join(all[:fewNames], ", "), len(all)-fewNames)
}

// leavesEnough says when the drain would leave a service with fewer places than its min_places, or without a
// serving one: by what the running server knows, or, when there is none, by the configuration, as if
// everything were up.
func (d *drain) leavesEnough(c *cobra.Command, cfg *config.Config) error {
	if refused := cfg.RefusesDrain(d.Drain, time.Now()); len(refused) > 0 {
		return fmt.Errorf("nothing was drained (--force=WHY drains all the same):\n%w", refused.Err())
	}
	bare, err := d.bare(c)
	if err != nil {
		return err
	}
	if len(bare) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was drained: %s (--force drains all the same)", bareWords(d.Target, bare))
}

func bareWords(place string, services []string) string {
	return fmt.Sprintf("without %s no place serves %s", place, strings.Join(services, ", "))
}

func (d *drain) bare(c *cobra.Command) ([]string, error) {
	server, err := findServer(*d.file)
	if err == nil {
		query := url.Values{"place": {d.Target}, "service": {d.Service}}
		var would admin.Drain
		would, err = get[admin.Drain](c.Context(), server, "/v1/drain", query)
		if err == nil {
			return would.Bare, nil
		}
		if !errors.Is(err, errNotRunning) {
			return nil, err
		}
	}
	_, policy, problems := load(*d.file)
	if wrong := mistakes(problems); len(wrong) > 0 {
		return nil, wrong.Err()
	}
	nowhere := geo.NewMap(maps.All(map[netip.Prefix]geo.Location{}))
	return traffic.Sunny(policy, nowhere, time.Now()).LeftBare(d.Drain), nil
}
