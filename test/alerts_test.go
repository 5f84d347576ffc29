package test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb/dns/admin"
	"gslb/test/rig"
)

// Rules that name what there is not would be silent for good.
func TestAlertsNameOnlyWhatThereIs(t *testing.T) {
	rules, err := os.ReadFile("../deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile("../deploy/alerts.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range admin.Metrics() {
		known = append(known, m.Name)
	}
	for _, name := range regexp.MustCompile(`gslb_\w+`).FindAllString(string(rules)+string(cases), -1) {
		if !slices.Contains(known, name) {
			t.Errorf("%s: there is no such metric", name)
		}
	}
	alerts := regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1)
	for _, a := range alerts {
		if !strings.Contains(string(cases), "alertname: "+a[1]+"\n        exp_alerts") {
			t.Errorf("%s: no test sees it come", a[1])
		}
	}
	if len(alerts) < 10 {
		t.Errorf("%d alerts were found", len(alerts))
	}
}

func TestAlertsComeAndGo(t *testing.T) {
	c := exec.CommandContext(t.Context(), rig.Installed(t, "promtool", "prometheus"), "test", "rules", "alerts.test.yaml")
	c.Dir = "../deploy"
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
