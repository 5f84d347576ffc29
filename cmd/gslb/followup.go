package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb/config"
	"gslb/dns/admin"
)

const (
	// followTime is how long a command waits for a running server to take up what it wrote.
	followTime = 2 * time.Second
	followStep = 20 * time.Millisecond
)

// followUp tells when a change of the configuration's files is in force: when the running server works
// by the same content.
func followUp(c *cobra.Command, file, change string) error {
	cfg, _ := config.Load(file)
	server, err := findServer(file)
	if err != nil {
		return later(c, change, err)
	}
	for deadline := time.Now().Add(followTime); ; time.Sleep(followStep) {
		s, err := get[admin.Status](c.Context(), server, "/v1/status", nil)
		switch {
		case errors.Is(err, errNotRunning):
			return later(c, change, err)
		case err != nil:
			return err
		case s.Config.Hash == cfg.Hash():
			fmt.Fprintf(c.OutOrStdout(), "in force on this server only: %s (config %d:%s)\n", change, s.Config.Number, s.Config.Hash)
			return nil
		case time.Now().After(deadline):
			return notTaken(s, file)
		}
	}
}

func later(c *cobra.Command, change string, why error) error {
	fmt.Fprintf(c.OutOrStdout(), "on this server only, from its next start: %s\n(%v)\n", change, why)
	return nil
}

// notTaken says why the server has not taken up what was written.
func notTaken(s admin.Status, file string) error {
	if r := s.Config.Refused; r != nil {
		return fmt.Errorf("not in force: the server refused the configuration:\n%s", strings.Join(r.Problems, "\n"))
	}
	ours, _ := filepath.Abs(file)
	return fmt.Errorf("not in force: after %s the server, which runs %s, has not taken up %s", followTime, s.Config.File, ours)
}
