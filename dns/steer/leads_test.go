package steer_test

import (
	"testing"

	"gslb/config"
	"gslb/dns/steer"
)

func TestPartnersLeadToTheirSites(t *testing.T) {
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(`
sites: {nsk: {}, ekb: {}}
partners:
  sibtel: {site: nsk, networks: [203.0.113.0/24]}
  trial: {site: ekb, networks: [198.51.100.0/24], shadow: true}
`)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		site   string
		shadow bool
	}{"sibtel": {"nsk", false}, "trial": {"ekb", true}, "nobody": {"", false}} {
		if site, shadow := policy.Leads(name); site != want.site || shadow != want.shadow {
			t.Errorf("%s leads to %q, shadow %v; want %q, %v", name, site, shadow, want.site, want.shadow)
		}
	}
}
