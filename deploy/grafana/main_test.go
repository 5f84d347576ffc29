package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gslb/test/golden"
	"gslb/test/rig"
)

func TestDashboardIsFresh(t *testing.T) {
	panels, err := text(rows())
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "gslb.json", string(panels))
}

func TestPanelsShowOnlyWhatThereIs(t *testing.T) {
	for name, c := range map[string]struct {
		view view
		want string
	}{
		"a metric": {view{title: "x", metric: "nonsense"}, "the server has no metric gslb_nonsense"},
		"a label":  {view{title: "x", metric: "brake_on", by: "client"}, "gslb_brake_on has no label client"},
	} {
		if _, err := text([]row{{"r", []view{c.view}}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Prometheus itself reads every question of the dashboard.
func TestQuestionsAreUnderstood(t *testing.T) {
	promtool := rig.Installed(t, "promtool", "prometheus")
	text, err := text(rows())
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	rules, n := "groups:\n  - name: dashboard\n    rules:\n", 0
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			n++
			rules += fmt.Sprintf("      - {record: q%d, expr: %q}\n", n, strings.ReplaceAll(q.Expr, "$__rate_interval", "5m"))
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("%d rules found", n)) {
		t.Errorf("%v\n%s", err, out)
	}
}
