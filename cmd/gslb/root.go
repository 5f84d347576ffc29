package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"gslb/config"
)

// Exit codes: what scripts go by.
const (
	exitFine  = 0
	exitBad   = 1 // the configuration, the answer or the server is bad
	exitUsage = 2 // the command was not understood
	exitMoves = 3 // of two configurations, the second would move clients
)

// streams is where a command writes to.
type streams struct{ out, err io.Writer }

// errTold ends a command with exitBad after everything was said already.
var errTold = errors.New("told")

// errMoves ends a command with exitMoves after everything was said already.
var errMoves = errors.New("moves")

// usageError is a mistake in how the command was called.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// execute runs one command line and gives its exit code.
func execute(ctx context.Context, args []string, to streams) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(to.out)
	root.SetErr(to.err)
	understood := false
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	called, err := root.ExecuteContextC(ctx)
	var usage usageError
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errTold):
		return exitBad
	case errors.Is(err, errMoves):
		return exitMoves
	case !understood || errors.As(err, &usage):
		fmt.Fprintf(to.err, "gslb: %v\nTry \"%s --help\".\n", err, called.CommandPath())
		return exitUsage
	}
	fmt.Fprintln(to.err, err)
	return exitBad
}

// one asks for exactly one argument.
func one(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("which %s?", what)
		case 1:
			return nil
		}
		return fmt.Errorf("one %s at a time, not %d", what, len(args))
	}
}

// noCommand says that a word is none of the commands.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	if near := config.Suggest(args[0], names); near != "" {
		return fmt.Errorf("there is no command %q (did you mean %s?)", args[0], near)
	}
	return fmt.Errorf("there is no command %q", args[0])
}

// options are the flags that every command has.
type options struct{ file string }

const defaultFile = "/etc/gslb/gslb.yaml"

func newRoot() *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:           "gslb",
		Short:         "A global DNS traffic manager: an authoritative server that decides which site each client gets",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			c.SetOut(c.ErrOrStderr())
			if err := c.Help(); err != nil {
				return err
			}
			return usagef("no command given")
		},
	}
	root.PersistentFlags().StringVarP(&o.file, "config", "c", cmp.Or(os.Getenv("GSLB_CONFIG"), defaultFile),
		"configuration `file`; without the flag $GSLB_CONFIG, then "+defaultFile)
	root.AddCommand(
		newServe(&o), newCheck(&o), newExplain(&o), newStatus(&o), newEvents(&o), newDiff(), newSimulate(),
		newPartners(&o), newRoutes(&o), newPartnerKit(&o), newDNSSEC(&o),
		newDrain(&o), newUndrain(&o), newReload(&o), newTop(&o), newSchema(), newMan(), newVersion(), newDemo(), newSpeaker(), newAnnouncer(),
	)
	offer(&o, root)
	return root
}
