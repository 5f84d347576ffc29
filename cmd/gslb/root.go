package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
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

// execute runs one command line and gives its exit code.
func execute(ctx context.Context, args []string, to streams) int {
	var o options
	root := newRoot(&o)
	out := &outlet{to: to.out}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(to.err)
	understood := false
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	called, err := root.ExecuteContextC(ctx)
	var usage usageError
	if err == nil && out.failed != nil {
		err = fmt.Errorf("not all was printed: %w", out.failed)
	}
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errTold):
		advise(to.err, o.whereabouts(called))
		return exitBad
	case errors.Is(err, errMoves):
		return exitMoves
	case !understood || errors.As(err, &usage):
		fmt.Fprintf(to.err, "gslb: %v\nTry \"%s --help\".\n", err, called.CommandPath())
		return exitUsage
	}
	fmt.Fprintln(to.err, err)
	advise(to.err, cmp.Or(o.whereabouts(called), remedy(err)))
	return exitBad
}

// advise writes what to do next, on a line of its own.
func advise(w io.Writer, words string) {
	if words != "" {
		fmt.Fprintln(w, "  "+words)
	}
}

// outlet is where the output goes. It remembers that not all of it got there.
type outlet struct {
	to     io.Writer
	failed error
}

func (o *outlet) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil {
		o.failed = err
	}
	return n, err
}

// options are the flags that every command has.
type options struct{ file string }

// Where the configuration is, when no flag says so.
const (
	configVariable = "GSLB_CONFIG"
	defaultFile    = "/etc/gslb/gslb.yaml"
)

func newRoot(o *options) *cobra.Command {
	root := &cobra.Command{
		Use:   "gslb",
		Short: "A global DNS traffic manager: an authoritative server that decides which site each client gets",
		Long: `A global DNS traffic manager: an authoritative server that decides which site each client gets.

Commands that ask the running server find it by admin.listen of the configuration. Where it wants a token,
they present the one in $GSLB_TOKEN, or in the file that $GSLB_TOKEN_FILE names.

Exit codes: 0 all is well; 1 something is wrong with the configuration, the answer or the server, and the
standard error says what; 2 the command was not understood; 3 gslb diff found clients that would move.`,
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
	root.PersistentFlags().StringVarP(&o.file, "config", "c", cmp.Or(os.Getenv(configVariable), defaultFile),
		"configuration `file`; without the flag $GSLB_CONFIG, then "+defaultFile)
	root.PersistentFlags().Lookup("config").DefValue = "" // it was said
	root.AddCommand(
		newServe(o), newCheck(o), newExplain(o), newStatus(o), newEvents(o), newDiff(), newSimulate(),
		newPartners(o), newRoutes(o), newPartnerKit(o), newDNSSEC(o),
		newDrain(o), newUndrain(o), newReload(o), newTop(o), newSchema(), newMan(), newVersion(), newDemo(), newSpeaker(), newAnnouncer(),
	)
	root.SetFlagErrorFunc(badFlag)
	root.SetHelpCommand(newHelp())
	askShell(root)
	offer(o, root)
	return root
}
