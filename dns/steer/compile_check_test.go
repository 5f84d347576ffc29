package steer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/config"
)

// TestChecksCompile holds what only the kinds themselves know to be wrong.
func TestChecksCompile(t *testing.T) {
	for _, c := range []struct{ name, check, want string }{
		{"a good question", "dns: {name: ok.test, type: MX, answer: 10 mx.ok.test.}", ""},
		{"no type", "dns: {name: ok.test, type: AAAAA}", `a.yaml:2:28: checks.c.dns.type: "AAAAA" is no type of records`},
		{"no code", "dns: {name: ok.test, rcode: NOTERR}", `a.yaml:2:28: checks.c.dns.rcode: "NOTERR" is no response code`},
		{"no data of the type", "dns: {name: ok.test, answer: mx.ok.test.}", `a.yaml:2:28: checks.c.dns.answer: "mx.ok.test." is not what a record of type A holds`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "checks:\n  c: {" + c.check + "}\n" +
				"datacenters: {msk: {}}\nservices: {web: {check: c, steer: [datacenters], at: {msk: [192.0.2.1]}}}\n"
			cfg, problems := config.Parse(config.Source{File: "a.yaml", Text: []byte(text)})
			_, more := Compile(cfg)
			got := ""
			for _, p := range append(problems, more...) {
				got += p.String()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
