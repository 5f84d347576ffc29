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

func TestTransferredZoneNeedsAWrittenSerial(t *testing.T) {
	for name, tc := range map[string]struct{ soa, want string }{
		"automatic": {"", "gslb.yaml:2:32: zones.ok.test.transfer: needs a SOA with a number as its serial: a hash does not grow, and secondaries would miss changes"},
		"in a key":  {"soa: {serial: 5}, ", ""},
		"in a text": {"records: \"@ SOA ns.example. a.example. 5 1 1 1 1\", ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := "zones:\n  ok.test: {ns: [ns.example.], " + tc.soa + "transfer: {allow: [192.0.2.0/24]}}\n"
			cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			got := ""
			if _, problems = steer.Compile(cfg); problems.Err() != nil {
				got = problems.Err().Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestServiceOfAliasesStandsAlone(t *testing.T) {
	const text = `
datacenters: {dc: {}}
services:
  led: {at: {dc: {cname: host.ok.test}}}
  sip: {at: {dc: {srv: {target: host.ok.test, port: 1}}}}
zones:
  ok.test:
    ns: [ns.example.]
    records: |
      host A   192.0.2.1
      www  TXT "beside"
      _sip TXT "beside"
      _sip SRV 1 2 3 host
    services: {www: led, "@": led, fine: led, _sip: sip}
`
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	_, problems = steer.Compile(cfg)
	const want = `gslb.yaml:11:7: zones.ok.test: www.ok.test. TXT stands beside a service (key services.www) that makes the name an alias, which stands alone (RFC 1034 section 3.6.2)
gslb.yaml:13:7: zones.ok.test: _sip.ok.test. SRV stands beside a service (key services._sip), which gives the name's records itself
gslb.yaml:14:26: zones.ok.test.services.@: ok.test. is the zone itself, which cannot be an alias (RFC 1034 section 3.6.2)`
	if err := problems.Err(); err == nil || err.Error() != want {
		t.Errorf("got:\n%s\nwant:\n%s", err, want)
	}
}
