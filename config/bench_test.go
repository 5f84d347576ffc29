package config

import (
	"fmt"
	"strings"
	"testing"
)

// bulk is a config of about 50,000 lines: 2,000 places, 4,000 services, and records.
func bulk() Source {
	var b strings.Builder
	b.WriteString("checks:\n  web:\n    http:\n      path: /ping\n    interval: 5s\ndatacenters:\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "  dc-%d:\n    location: [%d.5, %d.25]\n    weight: %d\n", i, i%90, i%180, 1+i%100)
	}
	b.WriteString("services:\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "  service-%d:\n    check: web\n    ttl: 60\n    steer: [geo]\n    at:\n", i)
		for j := range 3 {
			fmt.Fprintf(&b, "      dc-%d:\n        addresses: [10.%d.%d.%d]\n        weight: 5\n", (i+j*7)%2000, j, i/250, 1+i%250)
		}
	}
	b.WriteString("zones:\n  ok.test:\n    records: |\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "      host-%d A 192.0.2.1\n", i)
	}
	return Source{File: "gslb.yaml", Text: []byte(b.String())}
}

func BenchmarkParse(b *testing.B) {
	source := bulk()
	lines := strings.Count(string(source.Text), "\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, ps := Parse(source); ps.Err() != nil {
			b.Fatal(ps.Err())
		}
	}
	b.ReportMetric(float64(lines), "lines")
}

func BenchmarkParseEmpty(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Parse(Source{File: "gslb.yaml"})
	}
}
