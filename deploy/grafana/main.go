// Command grafana answers the question: what does an operator look at first? It prints the dashboard
// deploy/grafana/gslb.json:
//
//	go run ./deploy/grafana >deploy/grafana/gslb.json
//
// A panel names the metric that it shows, and is told of one that the server does not have. A test keeps the file fresh.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"gslb/dns/admin"
)

func main() {
	text, err := text(rows())
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// text writes the dashboard of some rows.
func text(rows []row) ([]byte, error) {
	known := map[string]admin.Metric{}
	for _, m := range admin.Metrics() {
		known[m.Name] = m
	}
	d := empty()
	y, id := 0, 0
	for _, r := range rows {
		id++
		d.Panels = append(d.Panels, panel{ID: id, Type: "row", Title: r.title, Grid: grid{H: 1, W: 24, Y: y}})
		y++
		for i, v := range r.views {
			id++
			p, err := v.panel(known)
			if err != nil {
				return nil, err
			}
			p.ID, p.Grid = id, grid{H: height, W: width, X: i % perRow * width, Y: y + i/perRow*height}
			d.Panels = append(d.Panels, p)
		}
		y += (len(r.views) + perRow - 1) / perRow * height
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	err := out.Encode(d)
	return b.Bytes(), err
}

// The grid of a dashboard is 24 wide.
const (
	perRow = 3
	width  = 24 / perRow
	height = 8
)
