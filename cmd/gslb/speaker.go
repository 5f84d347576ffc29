package main

import (
	"os"

	"github.com/spf13/cobra"

	"gslb/bgp/speaker"
)

// speakerVerb runs the BGP speaker. The server starts it; nobody else has use for it.
const speakerVerb = "bgp-speaker"

func newSpeaker() *cobra.Command {
	return &cobra.Command{
		Use:    speakerVerb,
		Hidden: true,
		Args:   none,
		RunE:   func(c *cobra.Command, _ []string) error { return speaker.Run(c.Context(), os.Stdin, os.Stdout) },
	}
}
