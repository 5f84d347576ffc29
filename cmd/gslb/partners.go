package main

import (
	"time"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/admin"
)

func newPartners(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "partners",
		Short: "Show the partners' BGP sessions and what is learned from them",
		Args:  none,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := askPartners(c, o.file)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), all)
			}
			sheet.Partners(c.OutOrStdout(), time.Now(), all)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(newReset(o))
	return c
}

func askPartners(c *cobra.Command, file string) (admin.Partners, error) {
	server, err := findServer(file)
	if err != nil {
		return admin.Partners{}, err
	}
	return get[admin.Partners](c.Context(), server, "/v1/partners", nil)
}
