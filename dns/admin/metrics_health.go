package admin

import (
	"time"

	"gslb/dns/steer"
)

// healthFamilies are of checks and of what stands by them.
type healthFamilies struct {
	up, failed, results, degraded, turns, serving, drained, served Metric
	brake, gaps, discarded, hindered, probes, lag, flights         Metric
}

func (d definer) health() healthFamilies {
	endpoint := []string{"service", "place", "endpoint"}
	return healthFamilies{
		up:        d.gauge("endpoint_up", "Whether an endpoint serves by its checks.", endpoint...),
		failed:    d.gauge("endpoint_failed_probes", "Failed probes in the window of an endpoint.", endpoint...),
		results:   d.gauge("endpoint_window_probes", "Probes in the window of an endpoint so far.", endpoint...),
		degraded:  d.gauge("endpoint_degraded", "Whether an endpoint serves and has failed of late.", endpoint...),
		turns:     d.counter("endpoint_transitions_total", "Changes of the verdict of an endpoint's worst check.", endpoint...),
		serving:   d.gauge("place_serving", "Whether a place may be given to clients of a service.", "service", "place"),
		drained:   d.gauge("place_drained", "Whether a place is drained for a service.", "service", "place"),
		served:    d.gauge("service_served", "Whether some place serves: 0 while all_down answers.", "service"),
		brake:     d.gauge("brake_on", "Whether verdicts are held, since everything fails at once."),
		gaps:      d.counter("check_gaps_total", "Times at which the checks stood still: the process was stopped or starved."),
		discarded: d.counter("check_results_discarded_total", "Failures that do not count, since the checks stood still while they were found, or could not be made on this machine."),
		hindered:  d.gauge("checks_hindered", "Endpoints that cannot be probed at present, for want of something on this machine."),
		probes:    d.histogram("probe_seconds", "Time that probes took, by kind of check and by how they ended: ok or failed.", "kind", "result"),
		lag:       d.histogram("probe_lag_seconds", "How late probes left, from when they were due."),
		flights:   d.gauge("probes_in_flight", "Probes that are under way."),
	}
}

// checks tells what holds of the checks as a whole, and of every endpoint.
func (c *collector) checks(s scrape, f healthFamilies) {
	snapshot := c.Snapshot()
	s.tell(f.brake, truth(snapshot.Brake().On))
	gaps := c.Gaps()
	s.tell(f.gaps, float64(gaps.Gaps))
	s.tell(f.discarded, float64(gaps.Discarded))
	s.tell(f.hindered, float64(gaps.Hindered))
	for ending, spread := range c.Probes() {
		result := "failed"
		if ending.OK {
			result = "ok"
		}
		s.spread(f.probes, spread, ending.Kind, result)
	}
	s.spread(f.lag, c.Lag())
	s.tell(f.flights, float64(c.InFlight()))
	for _, view := range snapshot.Overview(time.Now()) {
		c.service(s, f, view)
	}
}

func (c *collector) service(s scrape, f healthFamilies, view steer.ServiceView) {
	s.tell(f.served, truth(view.Served), view.Service)
	for _, p := range view.Places {
		s.tell(f.serving, truth(p.Standing == "serving" || p.Standing == "unknown"), view.Service, p.Place)
		s.tell(f.drained, truth(p.Drain != nil), view.Service, p.Place)
		for _, e := range p.Endpoints {
			s.tell(f.up, truth(e.Verdict != "withdrawn"), view.Service, p.Place, e.Address)
			if e.Check == "" {
				continue
			}
			s.tell(f.degraded, truth(e.Degraded), view.Service, p.Place, e.Address)
			s.tell(f.failed, float64(e.Failed), view.Service, p.Place, e.Address)
			s.tell(f.results, float64(e.Results), view.Service, p.Place, e.Address)
			s.tell(f.turns, float64(c.History(e.Key).Turns), view.Service, p.Place, e.Address)
		}
	}
}
