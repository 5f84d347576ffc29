package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"gslb/cmd/gslb/sheet"
	"gslb/dns/sim"
)

func newSimulate() *cobra.Command {
	return &cobra.Command{
		Use:   "simulate FILE",
		Short: "Play a scenario, and show what each client gets",
		Long: `Play a scenario on a clock of its own, without a socket, and print it with what happened below each
command. A bug report or a rehearsal is then a file that others can play.

A scenario is text. Files come first, each under a line with its name; then the script:

  -- gslb.yaml --
  (a configuration; gslb.yaml.d/NAME.yaml and zone files may follow in the same way)
  -- geo --
  203.0.113.0/24  country=RU region=MOW continent=EU at=55.75,37.62 asn=64500
  -- script --
  > start
  > ask www.ok.test A from 203.0.113.7
    A 192.0.2.1 ttl=60

Only the file geo says where networks are: without it no client has a location. With the word builtin in place
of its lines, the built-in countries are used, as by a server.

A line that begins with "> " is a command; lines below it that begin with "| " are its input. Its outcome
stands below it, indented by two spaces. Lines that begin with # are comments.

  start                        start the server       status   show every endpoint
  run 90s                      let time pass          probes   count the probes
  run 10 probes of ADDRESS     until so many          restart [after 5m]
  fail ADDRESS CAUSE           hang ADDRESS           flaky ADDRESS SSF      heal ADDRESS
  delay ADDRESS 800ms          its probes take so long
  write FILE                   with the input as its text; a configuration is reloaded at once
  edit FILE "OLD" "NEW"        remove FILE
  connect PEER                 lose PEER              shutdown PEER          complete PEER
  announce PEER NETWORK        and: origin=N, neighbour=N, length=N, med=N, community=A:B
  withdraw PEER NETWORK
  ask NAME TYPE from CLIENT    and: ecs NETWORK, tcp, x1000, ordered, bytes
  explain NAME [for NETWORK] [from SOURCE]

Where the file has an outcome below a command, what happens is compared with it. The exit code is 1 when
something else happened or the scenario cannot be played, and 0 otherwise.`,
		Example: "  gslb simulate rehearsal.txt",
		Args:    one("scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			return simulate(args[0], c.OutOrStdout(), c.ErrOrStderr())
		},
	}
}

func simulate(file string, out, errs io.Writer) error {
	script, err := os.ReadFile(file)
	if err != nil {
		return unreadable(file, err)
	}
	transcript, err := sim.Run(file, script)
	if m := (*sim.Mistake)(nil); errors.As(err, &m) {
		return fmt.Errorf("%s:%d: %w", file, m.Line, m.Err)
	}
	if err != nil {
		return err
	}
	if _, err := out.Write(transcript); err != nil {
		return err
	}
	differences, err := sim.Differences(script, transcript)
	if err != nil || len(differences) == 0 {
		return err
	}
	for _, d := range differences {
		tellDifference(errs, file, d)
	}
	fmt.Fprintf(errs, "%s: %s came to something else than the file says\n", file, sheet.Count(len(differences), "command"))
	return errTold
}

// tellDifference prints what a command was told to come to, and what it came to.
func tellDifference(w io.Writer, file string, d sim.Difference) {
	fmt.Fprintf(w, "%s:%d: %s\n", file, d.Line, d.Command)
	for _, l := range d.Told {
		fmt.Fprintf(w, "- %s\n", l)
	}
	for _, l := range d.Happened {
		fmt.Fprintf(w, "+ %s\n", l)
	}
}
