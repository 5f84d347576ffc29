package main

import (
	"os"
	"os/signal"
	"syscall"

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
		RunE: func(c *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGHUP) // whoever has all processes of our name reload means the server
			return speaker.Run(c.Context(), os.Stdin, os.Stdout)
		},
	}
}
