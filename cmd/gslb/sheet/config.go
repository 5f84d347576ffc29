package sheet

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/health"
)

// Config prints what a good configuration says.
func Config(w io.Writer, now time.Time, cfg *config.Config, policy *steer.Policy) {
	summary{cfg, policy, now}.write(w)
}

type summary struct {
	cfg    *config.Config
	policy *steer.Policy
	now    time.Time
}

func (s summary) write(w io.Writer) {
	fmt.Fprintf(w, "%s is good: config %s\n", s.cfg.File, s.cfg.Hash())
	t := NewTable(w, "  ")
	t.Row("zones", s.zones())
	t.Row("services", s.services())
	t.Row("places", s.places())
	t.Row("partners", s.partners())
	t.Row("checks", s.checks())
	t.Row("drains", s.drains())
	t.Row("answers on", addresses(s.cfg.Server.Listen))
	t.Flush()
}

func (s summary) zones() string {
	return listed(s.cfg.Zones, func(z config.Zone) string {
		return fmt.Sprintf("%s (%s to services)", strings.TrimSuffix(z.Name, "."), Count(len(z.Services), "name"))
	})
}

func (s summary) services() string {
	return listed(s.cfg.Services, func(svc config.Service) string {
		return fmt.Sprintf("%s (at %s)", svc.Name, Count(len(svc.At), "place"))
	})
}

func (s summary) places() string {
	var datacenters, sites int
	for _, p := range s.cfg.Places {
		if p.Kind == config.Datacenter {
			datacenters++
		} else {
			sites++
		}
	}
	return fmt.Sprintf("%s, %s", Count(datacenters, "datacenter"), Count(sites, "site"))
}

func (s summary) partners() string {
	return listed(s.cfg.Partners, func(p config.Partner) string {
		var brings []string
		if len(p.Peers) > 0 {
			brings = append(brings, Count(len(p.Peers), "peer"))
		}
		if len(p.Networks) > 0 || len(p.Peers) == 0 {
			brings = append(brings, Count(len(p.Networks), "network"))
		}
		return fmt.Sprintf("%s (%s to %s)", p.Name, strings.Join(brings, " and "), p.Site)
	})
}

func (s summary) checks() string {
	probes := map[health.Key]bool{}
	for _, t := range s.policy.Targets() {
		probes[t.Key()] = true
	}
	endpoints, unchecked := 0, 0
	for _, svc := range s.cfg.Services {
		for _, m := range svc.At {
			endpoints += len(m.Endpoints)
			if m.Checks == nil {
				unchecked += len(m.Endpoints)
			}
		}
	}
	words := fmt.Sprintf("%s of %s", Count(len(probes), "probe"), Count(endpoints-unchecked, "endpoint"))
	if unchecked > 0 {
		words += fmt.Sprintf("; %s without a check, always healthy", Count(unchecked, "endpoint"))
	}
	return words
}

func (s summary) drains() string {
	return listed(s.cfg.Drains, func(d config.Drain) string {
		words := d.Target
		if d.Service != "" {
			words += " for " + d.Service
		}
		switch {
		case d.Over(s.now):
			words += " (over)"
		case !d.Until.IsZero():
			words += " until " + Stamp(d.Until)
		}
		return words
	})
}
