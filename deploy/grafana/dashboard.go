package main

import (
	"fmt"
	"slices"
	"strings"

	"gslb/dns/admin"
)

// dashboard is as much of Grafana's form as we need (schema version 39, Grafana 10 and later).
type dashboard struct {
	Title         string     `json:"title"`
	UID           string     `json:"uid"`
	Tags          []string   `json:"tags"`
	Editable      bool       `json:"editable"`
	SchemaVersion int        `json:"schemaVersion"`
	Refresh       string     `json:"refresh"`
	Time          span       `json:"time"`
	Templating    templating `json:"templating"`
	Panels        []panel    `json:"panels"`
}

type span struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type templating struct {
	List []variable `json:"list"`
}

// variable is a choice above the dashboard.
type variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Query      string  `json:"query"`
	Datasource *source `json:"datasource,omitempty"`
	Multi      bool    `json:"multi,omitempty"`
	IncludeAll bool    `json:"includeAll,omitempty"`
	AllValue   string  `json:"allValue,omitempty"`
	Refresh    int     `json:"refresh,omitempty"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID          int      `json:"id"`
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Datasource  *source  `json:"datasource,omitempty"`
	Grid        grid     `json:"gridPos"`
	Targets     []target `json:"targets,omitempty"`
	Fields      *fields  `json:"fieldConfig,omitempty"`
}

type grid struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	RefID  string `json:"refId"`
	Expr   string `json:"expr"`
	Legend string `json:"legendFormat"`
}

type fields struct {
	Defaults  defaults `json:"defaults"`
	Overrides []string `json:"overrides"`
}

type defaults struct {
	Unit string `json:"unit,omitempty"`
	Min  int    `json:"min"`
}

// prometheus is the source that is chosen above the dashboard.
func prometheus() *source { return &source{"prometheus", "${source}"} }

func empty() dashboard {
	return dashboard{
		Title: "gslb", UID: "gslb", Tags: []string{"dns", "gslb"}, Editable: true, SchemaVersion: 39, Refresh: "10s", Time: span{"now-1h", "now"},
		Templating: templating{[]variable{
			{Name: "source", Label: "Source", Type: "datasource", Query: "prometheus"},
			{Name: "instance", Label: "Server", Type: "query", Query: "label_values(gslb_build_info, instance)", Datasource: prometheus(), Multi: true, IncludeAll: true, AllValue: ".*", Refresh: 2},
		}},
	}
}

// panel makes the panel of a view. Its description is the metric's own help.
func (v view) panel(known map[string]admin.Metric) (panel, error) {
	m, ok := known["gslb_"+v.metric]
	if !ok {
		return panel{}, fmt.Errorf("panel %q: the server has no metric gslb_%s", v.title, v.metric)
	}
	by := "instance"
	if v.by != "" {
		by = v.by
	}
	labels := strings.Split(by, ", ")
	for _, l := range labels {
		if l != "instance" && !slices.Contains(m.Labels, l) {
			return panel{}, fmt.Errorf("panel %q: %s has no label %s", v.title, m.Name, l)
		}
	}
	p := panel{
		Type: "timeseries", Title: v.title, Description: m.Help, Datasource: prometheus(), Targets: v.targets(m, by, labels),
		Fields: &fields{Defaults: defaults{Unit: v.unit}, Overrides: []string{}},
	}
	if v.still {
		p.Type = "stat"
	}
	return p, nil
}

// targets are the questions to Prometheus: of a histogram the median and the slowest hundredth.
func (v view) targets(m admin.Metric, by string, labels []string) []target {
	var legend []string
	for _, l := range labels {
		legend = append(legend, "{{"+l+"}}")
	}
	where := `instance=~"$instance"`
	if v.where != "" {
		where += ", " + v.where
	}
	words := strings.Join(legend, " ")
	switch {
	case m.Kind == admin.Histogram:
		quantile := func(q string) string {
			return fmt.Sprintf("histogram_quantile(%s, sum by (%s, le) (rate(%s_bucket{%s}[$__rate_interval])))", q, by, m.Name, where)
		}
		return []target{{"A", quantile("0.5"), words + " median"}, {"B", quantile("0.99"), words + " p99"}}
	case m.Kind == admin.Counter:
		return []target{{"A", fmt.Sprintf("sum by (%s) (rate(%s{%s}[$__rate_interval]))", by, m.Name, where), words}}
	case v.until:
		return []target{{"A", fmt.Sprintf("min by (%s) (%s{%s}) - time()", by, m.Name, where), words}}
	}
	return []target{{"A", fmt.Sprintf("max by (%s) (%s{%s})", by, m.Name, where), words}}
}
