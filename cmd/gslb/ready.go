package main

import (
	"log/slog"
	"time"

	"gslb/config"
	"gslb/dns"
	"gslb/dns/steer"
	"gslb/health"
)

// ready says which files cannot be used and which checks that some endpoint wants cannot be made on this machine,
// each with the place in the config that asks for it.
func ready(cfg *config.Config, policy *steer.Policy) []error {
	var errs []error
	told := map[string]bool{}
	for _, t := range policy.Targets() {
		if told[t.Name] {
			continue
		}
		told[t.Name] = true
		if key, err := health.Ready(t.Check.Kind); err != nil {
			path := "checks." + t.Name + "." + t.Check.Kind.String()
			if key != "" {
				path += "." + key
			}
			errs = append(errs, located(cfg, path, err))
		}
		if token, _, ok := policy.Pushed(t.Name); ok {
			if err := token.Ready(); err != nil {
				errs = append(errs, located(cfg, "checks."+t.Name+".push.token_file", err))
			}
		}
	}
	for path, s := range secured(cfg) {
		if _, err := dns.LoadCertificate(s.Certificate, s.Key, slog.New(slog.DiscardHandler)); err != nil {
			errs = append(errs, located(cfg, path+".certificate", err))
		}
	}
	return append(errs, keyFaults(cfg, policy, time.Now())...)
}
