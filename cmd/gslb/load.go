package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"gslb/config"
	"gslb/dns/steer"
)

// load reads and compiles a configuration. The problems are all that there are, in the order of the
// files; the policy is of use only when none of them is an error.
func load(file string) (*config.Config, *steer.Policy, config.Problems) {
	cfg, problems := config.Load(file)
	return compiled(cfg, nil, problems)
}

// loadAfter is load beside answers by the policy in force, of which the new one has what is the same.
func loadAfter(file string, inForce *steer.Policy) (*config.Config, *steer.Policy, config.Problems) {
	cfg, problems := config.Reload(file)
	return compiled(cfg, inForce, problems)
}

func compiled(cfg *config.Config, inForce *steer.Policy, problems config.Problems) (*config.Config, *steer.Policy, config.Problems) {
	policy, more := steer.Recompile(cfg, inForce)
	problems = append(append(problems, more...), cfg.TooFewPlaces(time.Now())...)
	return cfg, policy, problems.Sorted()
}

// loadGood reads and compiles a configuration that must have no mistakes. Those that it has are written
// one a line, and then the error is errTold.
func loadGood(file string, complaints io.Writer) (*config.Config, *steer.Policy, error) {
	cfg, policy, problems := load(file)
	wrong := mistakes(problems)
	for _, p := range wrong {
		fmt.Fprintln(complaints, p)
	}
	if len(wrong) > 0 {
		return nil, nil, errTold
	}
	return cfg, policy, nil
}

// unread says why the configuration's file itself cannot be read; nil: it could.
func unread(file string, problems config.Problems) error {
	for _, p := range problems {
		if p.Pos == (config.Pos{File: file}) && p.Path == "" {
			return errors.New(p.String())
		}
	}
	return nil
}

// texts are the lines of problems.
func texts(problems config.Problems) []string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return lines
}

// mistakes are the problems that stop a configuration.
func mistakes(problems config.Problems) config.Problems {
	var errs config.Problems
	for _, p := range problems {
		if !p.Warning {
			errs = append(errs, p)
		}
	}
	return errs
}
