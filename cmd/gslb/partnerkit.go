package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb/bgp/kit"
	"gslb/config"
)

func newPartnerKit(o *options) *cobra.Command {
	var router string
	c := &cobra.Command{
		Use:   "partner-kit PARTNER",
		Short: "Print the router configuration for a partner's end",
		Long: `Print the router configuration for a partner's end of its sessions, from our configuration: to be
sent to the partner. Secrets are named, never printed.`,
		Example: "  gslb partner-kit sibtel --for bird > sibtel.conf",
		Args:    one("partner"),
		RunE: func(c *cobra.Command, args []string) error {
			routers := kit.Routers()
			if router != "all" {
				one := kit.Router(router)
				if !slices.Contains(routers, one) {
					return usagef("--for %s: the routers are %s", router, routerWords(routers))
				}
				routers = []kit.Router{one}
			}
			cfg, _, problems := load(o.file)
			if wrong := mistakes(problems); len(wrong) > 0 {
				for _, p := range wrong {
					fmt.Fprintln(c.ErrOrStderr(), p)
				}
				return errTold
			}
			i := slices.IndexFunc(cfg.Partners, func(p config.Partner) bool { return p.Name == args[0] })
			if i < 0 {
				return unknownPartner(cfg, args[0])
			}
			for j, r := range routers {
				if j > 0 {
					fmt.Fprintln(c.OutOrStdout())
				}
				text, err := kit.Write(r, cfg.BGP, cfg.Partners[i])
				if err != nil {
					return err
				}
				fmt.Fprint(c.OutOrStdout(), text)
			}
			return nil
		},
	}
	c.Flags().StringVar(&router, "for", "all", "`router` of the partner: "+routerWords(kit.Routers()))
	return c
}

func routerWords(routers []kit.Router) string {
	words := make([]string, len(routers))
	for i, r := range routers {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}

func unknownPartner(cfg *config.Config, name string) error {
	var known []string
	for _, p := range cfg.Partners {
		known = append(known, p.Name)
	}
	near := config.Suggest(name, known)
	if near != "" {
		return fmt.Errorf("partner %q: not in %s (did you mean %s?)", name, cfg.File, near)
	}
	return fmt.Errorf("partner %q: not in %s", name, cfg.File)
}
