package steer_test

import (
	"testing"

	"gslb/config"
	"gslb/dns/steer"
)

func TestServicesInTheShadowOfAnotherZone(t *testing.T) {
	const text = `
datacenters: {dc: {}}
services: {s: {at: {dc: [192.0.2.1]}}}
zones:
  sub.ok.test: {ns: [ns.example.], services: {www: s, "@": s}}
  ok.test:
    ns: [ns.example.]
    services: {www: s, sub: s, "*.sub": s, a.b.sub: s, xsub: s}
`
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	_, problems = steer.Compile(cfg)
	const want = `gslb.yaml:8:24: zones.ok.test.services.sub: sub.ok.test. belongs to the zone sub.ok.test.: the service would never be asked for
gslb.yaml:8:32: zones.ok.test.services.*.sub: *.sub.ok.test. belongs to the zone sub.ok.test.: the service would never be asked for
gslb.yaml:8:44: zones.ok.test.services.a.b.sub: a.b.sub.ok.test. belongs to the zone sub.ok.test.: the service would never be asked for`
	if err := problems.Err(); err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}
