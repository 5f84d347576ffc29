package main

import (
	"fmt"
	"time"

	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/steer"
)

// keysPath is the dotted path of the folder of a zone's keys.
func keysPath(cfg *config.Config, source sign.Source) string {
	for _, z := range cfg.Zones {
		if z.Name == source.Zone.Origin().String() {
			return z.Path + ".dnssec.keys"
		}
	}
	return "zones"
}

// keyFaults says which zones cannot be signed by the keys that they have. One that has none gets one when it is served.
func keyFaults(cfg *config.Config, policy *steer.Policy, now time.Time) []error {
	var errs []error
	for _, source := range policy.Signed() {
		if err := source.Usable(now); err != nil {
			errs = append(errs, located(cfg, keysPath(cfg, source), err))
		}
	}
	return errs
}

// keyless warns of zones that have no keys yet.
func keyless(cfg *config.Config, policy *steer.Policy) config.Problems {
	var problems config.Problems
	for _, source := range policy.Signed() {
		keys, err := sign.ReadFolder(source.Folder, source.Zone.Origin())
		if err != nil || len(keys) > 0 {
			continue
		}
		path := keysPath(cfg, source)
		problems = append(problems, config.Problem{
			Pos: cfg.At(path), Path: path, Warning: true,
			Message: fmt.Sprintf("%s holds no key of the zone: the first server that is started makes one, which is to be copied to the others", source.Folder),
		})
	}
	return problems
}
