package steer_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb/bgp"
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

func TestReasonsNameTheRouteThatWins(t *testing.T) {
	w := newWorld(t, cdn)
	route := func(peer string, preference uint32) bgp.Route {
		return bgp.Route{
			Prefix: netip.MustParsePrefix("198.18.0.0/24"), Partner: "sibtel", Peer: mustAddr(peer), Preference: preference,
			Path: bgp.Path{Origin: 64501}, Since: noon.Add(-time.Hour),
		}
	}
	w.routes = bgp.NewTable(1, []bgp.Route{route("127.0.0.9", 50), route("127.0.0.10", 100)})
	const want = "placed=partners partner=sibtel prefix=198.18.0.0/24 origin=64501 peer=127.0.0.10 age=1h\n"
	if got := w.explain("video.ok.test", "198.18.0.1", ""); !strings.Contains(got, want) {
		t.Errorf("got\n%swant among it\n%s", got, want)
	}
}
