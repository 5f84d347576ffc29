package main

import (
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

// offer has the shell complete the names that commands take.
func offer(o *options, root *cobra.Command) {
	arguments := map[string]func(*config.Config) []string{
		"drain": placesOf, "undrain": placesOf, "partner-kit": partnersOf,
	}
	flags := map[string]func(*config.Config) []string{"place": placesOf, "service": servicesOf, "partner": partnersOf}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if of := arguments[c.Name()]; of != nil {
			c.ValidArgsFunction = names(o, of)
		}
		for flag, of := range flags {
			if c.Flags().Lookup(flag) != nil {
				complete := names(o, of)
				_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
					return complete(c, nil, word)
				}) // an error says that the flag is not there, which was looked at
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}
