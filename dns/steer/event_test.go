package steer_test

import (
	"strings"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/dns/steer"
)

func words(events []steer.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.Kind + ": " + e.Text + "\n")
	}
	return b.String()
}

func TestDiffTellsWhatHappened(t *testing.T) {
	const down, up = "----------", "++++++++++++++++++++"
	everything := []string{"192.0.2.1", "2001:db8:1::1", "192.0.2.2", "192.0.2.3"}
	for _, tc := range []struct {
		name   string
		before func(*world)
		change func(*world)
		want   string
	}{
		{"nothing", nil, func(*world) {}, ""},
		{"a failure below the rule", nil, func(w *world) { w.check("192.0.2.2", "---------") }, ""},
		{"an endpoint falls", nil, func(w *world) { w.check("192.0.2.2", down) },
			"endpoint: msk-2/web withdrawn: 10 of 20 failed, last: status 503\n"},
		{"and rises", func(w *world) { w.check("192.0.2.2", down) }, func(w *world) { w.check("192.0.2.2", up) },
			"endpoint: msk-2/web restored: 20 of the last 20 succeeded\n"},
		{"a place of two endpoints", nil, func(w *world) { w.check("198.51.100.1", down); w.check("198.51.100.2", down) },
			"endpoint: nsk/web withdrawn: 10 of 20 failed, last: status 503\n" +
				"endpoint: nsk/web withdrawn: 10 of 20 failed, last: status 503\n" +
				"place: nsk withdrawn for video: 0 of 2 endpoints healthy\n"},
		{"a service loses its last place", func(w *world) {
			for _, a := range everything[:3] {
				w.check(a, down)
			}
		}, func(w *world) { w.check("192.0.2.3", down) },
			"endpoint: fra/web withdrawn: 10 of 20 failed, last: status 503\n" +
				"service: portal: nobody serves, answered by all_down: serve\n"},
		{"a service comes back", func(w *world) {
			for _, a := range everything {
				w.check(a, down)
			}
		}, func(w *world) { w.check("192.0.2.2", up) },
			"endpoint: msk-2/web restored: 20 of the last 20 succeeded\nservice: portal: served again\n"},
		{"drains begin", nil, func(w *world) {
			w.policy = compile(t, strings.Replace(cdn, "drains: []", "drains: [{target: fra, reason: cooling work, by: nikita, until: 2026-11-29T14:00:00Z}, {target: msk-1, service: video, hard: true}]", 1))
		}, "drain: fra drained: cooling work, by nikita, until 2026-11-29T14:00:00Z\ndrain: msk-1/video drained hard\n"},
		{"a drain runs out", func(w *world) {
			w.policy = compile(t, strings.Replace(cdn, "drains: []", "drains: [{target: fra, until: 2026-11-29T14:00:00Z}]", 1))
		}, func(w *world) { w.now = w.now.Add(2 * time.Hour) }, "drain: fra no longer drained\n"},
		{"a drain runs out beside another", func(w *world) {
			w.policy = compile(t, strings.Replace(cdn, "drains: []", "drains: [{target: fra, service: video, hard: true, until: 2026-11-29T14:00:00Z}, {target: fra}]", 1))
		}, func(w *world) { w.now = w.now.Add(2 * time.Hour) }, "drain: fra/video no longer drained hard, but another drain holds\n"},
		{"another geo map and other routes", nil, func(w *world) { w.geo = earth(); w.routes = bgp.NewTable(2, nil) },
			"geo: geo database in force: table\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, cdn)
			if tc.before != nil {
				tc.before(w)
			}
			before := w.snapshot()
			tc.change(w)
			if got := words(steer.Diff(before, w.after(before))); got != tc.want {
				t.Errorf("got:\n%swant:\n%s", got, tc.want)
			}
		})
	}
}

func TestFirstDiffTellsWhatIsAmiss(t *testing.T) {
	w := newWorld(t, strings.Replace(cdn, "drains: []", "drains: [{target: msk-1}]", 1))
	w.check("192.0.2.2", "----------")
	want := "drain: msk-1 drained\nendpoint: msk-2/web withdrawn: 10 of 20 failed, last: status 503\n"
	if got := words(steer.Diff(nil, w.snapshot())); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
