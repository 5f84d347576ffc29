package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gslb/config"
	"gslb/dns/admin"
)

const (
	// followTime is how long a command goes on asking a running server to take up what it wrote.
	followTime = 2 * time.Second
	followStep = 100 * time.Millisecond
)

// followUp has the running server take up a change of the configuration's files, and tells when it is
// in force: when the server works by what the files hold. Others may be changing them too, so they are
// read again each time.
func followUp(c *cobra.Command, file, change string) error {
	server, err := findServer(file)
	if err != nil {
		return later(c, change, err)
	}
	for deadline := time.Now().Add(followTime); ; pause(c.Context(), followStep) {
		outcome, err := server.takeUp(c.Context())
		cfg, _ := config.Load(file)
		switch {
		case errors.Is(err, errNotRunning):
			return later(c, change, err)
		case err != nil:
			return fmt.Errorf("the server takes it up by itself, but did not say whether it is in force: %w", err)
		case outcome.Hash == cfg.Hash():
			fmt.Fprintf(c.OutOrStdout(), "in force on this server only: %s (config %d:%s)\n", change, outcome.Number, outcome.Hash)
			return nil
		case outcome.Outcome == admin.Refused:
			return fmt.Errorf("not in force: the server refused the configuration:\n%s", strings.Join(outcome.Problems, "\n"))
		case time.Now().After(deadline):
			return notTaken(c, server, file)
		}
	}
}

// takeUp has the server read its configuration again. Whom it does not take that from is told what is in force: the
// server looks at its files by itself.
func (c client) takeUp(ctx context.Context) (admin.Reload, error) {
	outcome, err := c.reload(ctx)
	if no := (*refusal)(nil); !errors.As(err, &no) || no.code != http.StatusForbidden {
		return outcome, err
	}
	s, err := get[admin.Status](ctx, c, "/v1/status", url.Values{"limit": {"1"}})
	outcome = admin.Reload{Outcome: admin.Unchanged, Number: s.Config.Number, Hash: s.Config.Hash}
	if r := s.Config.Refused; r != nil {
		outcome.Outcome, outcome.Problems = admin.Refused, r.Problems
	}
	return outcome, err
}

// pause waits, at most until ctx ends: whoever asks next is told of that.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func later(c *cobra.Command, change string, why error) error {
	fmt.Fprintf(c.OutOrStdout(), "on this server only, from its next start: %s\n(%v)\n", change, why)
	return nil
}

// notTaken says that the server works by something else than what was written.
func notTaken(c *cobra.Command, server client, file string) error {
	s, err := get[admin.Status](c.Context(), server, "/v1/status", nil)
	if err != nil {
		return err
	}
	ours, _ := filepath.Abs(file)
	return fmt.Errorf("not in force: the server on %s (admin.listen) runs %s, and has not taken up %s", server.address, s.Config.File, ours)
}
