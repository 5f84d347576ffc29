package main

import (
	"fmt"
	"io"
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
		Long: `Print the router configuration for a partner's end of its sessions, made from our configuration, to send
to the partner. Secrets are named, never printed.`,
		Example: "  gslb partner-kit sibtel --for bird > sibtel.conf",
		Args:    one("partner"),
		RunE: func(c *cobra.Command, args []string) error {
			routers, err := routersNamed(router)
			if err != nil {
				return err
			}
			cfg, _, err := loadGood(o.file, c.ErrOrStderr())
			if err != nil {
				return err
			}
			i := slices.IndexFunc(cfg.Partners, func(p config.Partner) bool { return p.Name == args[0] })
			if i < 0 {
				return unknownPartner(cfg, args[0])
			}
			return writeKit(c.OutOrStdout(), routers, cfg.BGP, cfg.Partners[i])
		},
	}
	c.Flags().StringVar(&router, "for", "all", "`router` of the partner: "+routerWords(kit.Routers()))
	kinds := []string{"all"}
	for _, r := range kit.Routers() {
		kinds = append(kinds, string(r))
	}
	_ = c.RegisterFlagCompletionFunc("for", words(kinds...)) // the flag is there
	return c
}

// routersNamed gives the one kind of router that is meant, or all.
func routersNamed(word string) ([]kit.Router, error) {
	routers := kit.Routers()
	if word == "all" {
		return routers, nil
	}
	if !slices.Contains(routers, kit.Router(word)) {
		return nil, usagef("--for %s: the routers are %s", word, routerWords(routers))
	}
	return []kit.Router{kit.Router(word)}, nil
}

// writeKit writes the partner's end for each kind of router, apart by an empty line.
func writeKit(w io.Writer, routers []kit.Router, ours config.BGP, partner config.Partner) error {
	for i, r := range routers {
		if i > 0 {
			fmt.Fprintln(w)
		}
		text, err := kit.Write(r, ours, partner)
		if err != nil {
			return err
		}
		fmt.Fprint(w, text)
	}
	return nil
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
	return unknown("partner", name, known)
}
