package admin

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gslb/dns/steer"
)

// metricsHandler serves the metrics of one server from a registry of its own.
func metricsHandler(d Deps) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{d},
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// collector reads everything when it is scraped: nothing is counted twice, and what a reload took
// away is gone from the next scrape, but for what it had been counted for until then. The values of its labels are names of the configuration and
// closed lists of words, never what a client sent.
type collector struct{ Deps }

// metric is one family of metrics.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("gslb_"+name, help, labels, nil), prometheus.CounterValue}
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("gslb_"+name, help, labels, nil), prometheus.GaugeValue}
}

// families are the metrics of a server.
type families struct {
	build, ready, start, config, loaded, reloadOK, failures metric
	queries, silent, answers, limited, steered, events      metric
	up, failed, results, serving, drained, served, database metric
	degraded, brake, gaps, discarded, hindered              metric
}

func newFamilies() families {
	return families{
		build:     gauge("build_info", "Version of the program; always 1.", "version", "goversion"),
		ready:     gauge("ready", "Whether questions are answered."),
		start:     gauge("start_time_seconds", "When the process started, in seconds since 1970."),
		config:    gauge("config_info", "Hash of the configuration in force; always 1.", "hash"),
		loaded:    gauge("config_loaded_time_seconds", "When the configuration in force was loaded, in seconds since 1970."),
		reloadOK:  gauge("config_current", "Whether the configuration's files hold what is in force: 0 after a refused reload."),
		failures:  counter("reload_failures_total", "Reloads that were refused."),
		queries:   counter("dns_queries_total", "Packets that came in, by transport.", "transport"),
		silent:    counter("dns_dropped_total", "Packets that got no answer, since they were no requests."),
		answers:   counter("dns_answers_total", "Answers, by RCODE.", "rcode"),
		limited:   counter("dns_rate_limited_total", "Replies that were too many for their clients: slipped, dropped, or spared in a dry run.", "action"),
		steered:   counter("steered_total", "Answers from services, by what placed the client.", "service", "placed"),
		events:    counter("events_total", "Events: what the log and the journal tell of.", "kind"),
		up:        gauge("endpoint_up", "Whether an endpoint serves by its checks.", "service", "place", "endpoint"),
		failed:    gauge("endpoint_failed_probes", "Failed probes in the window of an endpoint.", "service", "place", "endpoint"),
		results:   gauge("endpoint_window_probes", "Probes in the window of an endpoint so far.", "service", "place", "endpoint"),
		serving:   gauge("place_serving", "Whether a place may be given to clients of a service.", "service", "place"),
		drained:   gauge("place_drained", "Whether a place is drained for a service.", "service", "place"),
		served:    gauge("service_served", "Whether some place serves: 0 while all_down answers.", "service"),
		degraded:  gauge("endpoint_degraded", "Whether an endpoint serves and has failed of late.", "service", "place", "endpoint"),
		brake:     gauge("brake_on", "Whether verdicts are held, since everything fails at once."),
		gaps:      counter("check_gaps_total", "Times at which the checks stood still: the process was stopped or starved."),
		discarded: counter("check_results_discarded_total", "Failures that do not count, since the checks stood still while they were found, or could not be made on this machine."),
		hindered:  gauge("checks_hindered", "Endpoints that cannot be probed at present, for want of something on this machine."),
		database:  gauge("geo_info", "Geo database in force; always 1.", "database"),
	}
}

// Describe says nothing: what there is to tell depends on the configuration.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the server.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	f := newFamilies()
	s := scrape{out}
	c.server(s, f)
	c.counts(s, f)
	c.checks(s, f)
	for _, view := range c.Snapshot().Overview(time.Now()) {
		s.service(f, view)
	}
}

func (c *collector) server(s scrape, f families) {
	server := c.Server()
	s.tell(f.build, 1, c.Version, runtime.Version())
	s.tell(f.ready, truth(server.Ready))
	s.tell(f.start, float64(server.Since.UnixMilli())/1000)
	s.tell(f.config, 1, server.Config.Hash)
	s.tell(f.loaded, float64(server.Config.Loaded.UnixMilli())/1000)
	s.tell(f.reloadOK, truth(server.Config.Refused == nil))
	s.tell(f.failures, float64(server.Config.Failures))
	s.tell(f.database, 1, c.Snapshot().Geo().Name())
}

func (c *collector) counts(s scrape, f families) {
	for over, n := range c.Counts.Queries() {
		s.tell(f.queries, float64(n), over.String())
	}
	s.tell(f.silent, float64(c.Counts.Silent()))
	for rcode, n := range c.Counts.Rcodes() {
		s.tell(f.answers, float64(n), rcode)
	}
	for action, n := range c.Counts.Limited() {
		s.tell(f.limited, float64(n), action)
	}
	for kind, n := range c.Happened() {
		s.tell(f.events, float64(n), kind)
	}
	steered := map[[2]string]uint64{}
	for g := range c.Counts.Given() {
		steered[[2]string{g.Service, g.Placed.String()}] += g.Answers
	}
	for key, n := range steered {
		s.tell(f.steered, float64(n), key[0], key[1])
	}
}

// checks tells what holds of the checks as a whole.
func (c *collector) checks(s scrape, f families) {
	s.tell(f.brake, truth(c.Snapshot().Brake().On))
	gaps := c.Gaps()
	s.tell(f.gaps, float64(gaps.Gaps))
	s.tell(f.discarded, float64(gaps.Discarded))
	s.tell(f.hindered, float64(gaps.Hindered))
}

// scrape hands metrics out.
type scrape struct{ out chan<- prometheus.Metric }

func (s scrape) tell(m metric, value float64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}

func (s scrape) service(f families, view steer.ServiceView) {
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
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
