package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb/config"
)

// completed is what a shell offers for an argument or a flag.
type completed = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// names offers names of the configuration, for one argument. A configuration with mistakes offers what could be read of it.
func names(o *options, of func(*config.Config) []string) completed {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		cfg, _ := config.Load(o.file)
		return of(cfg), cobra.ShellCompDirectiveNoFileComp
	}
}

func placesOf(cfg *config.Config) []string {
	var all []string
	for _, p := range cfg.Places {
		all = append(all, p.Name)
	}
	return all
}

func servicesOf(cfg *config.Config) []string {
	var all []string
	for _, s := range cfg.Services {
		all = append(all, s.Name)
	}
	return all
}

func partnersOf(cfg *config.Config) []string {
	var all []string
	for _, p := range cfg.Partners {
		all = append(all, p.Name)
	}
	return all
}

// signedOf are the zones that gslb dnssec is about.
func signedOf(cfg *config.Config) []string {
	var all []string
	for _, z := range cfg.Zones {
		if z.DNSSEC != nil {
			all = append(all, strings.TrimSuffix(z.Name, "."))
		}
	}
	return all
}

// namesOf are the names that lead to services, but wildcards.
func namesOf(cfg *config.Config) []string {
	var all []string
	for _, z := range cfg.Zones {
		zone := strings.TrimSuffix(z.Name, ".")
		for _, s := range z.Services {
			switch {
			case s.Name == "@":
				all = append(all, zone)
			case !strings.HasPrefix(s.Name, "*"):
				all = append(all, s.Name+"."+zone)
			}
		}
	}
	return all
}

// signing offers a signed zone, and then what can be done with its keys.
func signing(o *options) completed {
	zones := names(o, signedOf)
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return zones(c, args, word)
		case len(args) == 1:
			return []string{"rollover", "parent-changed"}, cobra.ShellCompDirectiveNoFileComp
		case len(args) == 2 && args[1] == "rollover":
			return []string{"csk", "ksk", "zsk"}, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// words offers what a flag can be.
func words(of ...string) completed {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return of, cobra.ShellCompDirectiveNoFileComp
	}
}

// commands offers the commands that help tells of.
func commands(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var all []string
	if of, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
		for _, sub := range of.Commands() {
			if sub.IsAvailableCommand() {
				all = append(all, sub.Name()+"\t"+sub.Short)
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// offer has the shell complete what commands take: names of the configuration, words, and files only where one is meant.
func offer(o *options, root *cobra.Command) {
	places, services, partners := names(o, placesOf), names(o, servicesOf), names(o, partnersOf)
	arguments := map[string]completed{
		"drain": places, "undrain": places, "partner-kit": partners, "reset": partners, "explain": names(o, namesOf), "dnssec": signing(o),
	}
	files := []string{"check", "diff", "simulate", "man"}
	flags := map[string]completed{
		"place": places, "service": services, "partner": partners, "type": words("A", "AAAA"),
		"log-format": words("text", "json"), "log-level": words("debug", "info", "warn", "error"),
	}
	for _, text := range []string{"client", "for", "reason", "by", "force", "since", "limit", "sample", "interval"} {
		flags[text] = words()
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		switch of := arguments[c.Name()]; {
		case of != nil:
			c.ValidArgsFunction = of
		case !slices.Contains(files, c.Name()):
			c.ValidArgsFunction = words()
		}
		for flag, of := range flags {
			if c.Flags().Lookup(flag) != nil {
				_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
					return of(c, nil, word)
				}) // an error says that the flag is not there, which was looked at, or has words of its own
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}
