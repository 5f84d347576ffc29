package admin

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gslb/health/spread"
)

// metricsHandler serves the metrics of one server from a registry of its own.
func metricsHandler(h *handler) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{h, newFamilies()},
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// collector reads everything when it is scraped: nothing is counted twice, and what a reload took
// away is gone from the next scrape, but for what it had been counted for until then. The values of its labels are
// names of the configuration and closed lists of words, never what a client sent.
type collector struct {
	*handler
	families families
}

// Kind is what the values of a metric mean.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric is one family of metrics.
type Metric struct {
	Name, Help string
	Kind       Kind
	Labels     []string
	desc       *prometheus.Desc
}

// families are the metrics of a server.
type families struct {
	server serverFamilies
	dns    dnsFamilies
	health healthFamilies
	bgp    bgpFamilies
	all    []Metric
}

func newFamilies() families {
	var f families
	of := func(kind Kind) func(name, help string, labels ...string) Metric {
		return func(name, help string, labels ...string) Metric {
			m := Metric{"gslb_" + name, help, kind, labels, prometheus.NewDesc("gslb_"+name, help, labels, nil)}
			f.all = append(f.all, m)
			return m
		}
	}
	define := definer{of(Counter), of(Gauge), of(Histogram)}
	f.server, f.dns, f.health, f.bgp = define.server(), define.dns(), define.health(), define.bgp()
	return f
}

// definer makes metrics of each kind.
type definer struct {
	counter, gauge, histogram func(name, help string, labels ...string) Metric
}

// Metrics lists every metric of a server but those of the process and of Go. Dashboards and rules are made of these.
func Metrics() []Metric { return newFamilies().all }

// Describe says nothing: what there is to tell depends on the configuration.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the server.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := scrape{out}
	c.server(s, c.families.server)
	c.dns(s, c.families.dns)
	c.checks(s, c.families.health)
	c.peers(s, c.families.bgp)
}

// scrape hands metrics out.
type scrape struct{ out chan<- prometheus.Metric }

func (s scrape) tell(m Metric, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if m.Kind == Counter {
		kind = prometheus.CounterValue
	}
	s.out <- prometheus.MustNewConstMetric(m.desc, kind, value, labels...)
}

func (s scrape) spread(m Metric, of spread.Sum, labels ...string) {
	s.out <- prometheus.MustNewConstHistogram(m.desc, of.Count(), of.Seconds(), of.Below(), labels...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
