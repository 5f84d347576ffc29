package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gslb/config"
)

// usageError is a mistake in how the command was called.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// one asks for exactly one argument.
func one(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("which %s?", what)
		}
		return oneAtMost(what)(c, args)
	}
}

// oneAtMost asks for one argument or none.
func oneAtMost(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("one %s at a time, not %d", what, len(args))
		}
		return nil
	}
}

// none takes no arguments; what stands there may be meant for a command below.
func none(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasSubCommands():
		return noCommand(c, args)
	}
	return fmt.Errorf("%s takes no argument, and was given %q", c.Name(), args[0])
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
	what := fmt.Sprintf("there is no command %q", args[0])
	if c.HasParent() {
		what = fmt.Sprintf("there is no command %q after %s", args[0], c.CommandPath())
	}
	switch near := config.Suggest(args[0], names); {
	case near != "":
		return fmt.Errorf("%s (did you mean %s?)", what, near)
	case len(names) == 1:
		return fmt.Errorf("%s, only %s", what, names[0])
	}
	return errors.New(what)
}

// badFlag says what is wrong with a flag in the words of its kind.
func badFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		slices.Sort(names)
		if near := config.Suggest(unknown.GetSpecifiedName(), names); near != "" {
			return fmt.Errorf("%w (did you mean --%s?)", err, near)
		}
	case errors.As(err, &value):
		switch flag := value.GetFlag(); flag.Value.Type() {
		case "duration":
			return fmt.Errorf("--%s %s: not a span such as 90s, 30m or 2h", flag.Name, value.GetValue())
		case "int":
			return fmt.Errorf("--%s %s: not a number", flag.Name, value.GetValue())
		}
	}
	return err
}

// newHelp prints the help of a command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does, and its flags",

		ValidArgsFunction: commands,
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil {
				return usageError{err}
			}
			if len(rest) > 0 && of.HasSubCommands() {
				return usageError{noCommand(of, rest)}
			}
			of.InitDefaultHelpFlag() // which it has only once it is run
			return of.Help()
		},
	}
}

// askShell has gslb completion say which shells there are, instead of nothing.
func askShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short, c.Args = "Print what makes a shell complete commands, places and services", noCommand
			c.RunE = func(*cobra.Command, []string) error {
				return usagef("which shell? bash, zsh, fish or powershell")
			}
		}
	}
}
