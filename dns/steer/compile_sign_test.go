package steer_test

import (
	"strings"
	"testing"

	"gslb/config"
	"gslb/dns/steer"
)

func TestTellsWhatCannotBeSigned(t *testing.T) {
	for _, tc := range []struct{ name, zones, want string }{
		{"what is good", "ok.test: {ns: [ns.example.], dnssec: {keys: k}}", ""},
		{"keys among the records", "ok.test: {ns: [ns.example.], dnssec: {keys: k}, records: \"@ CDS 0 0 0 00\"}",
			"zones.ok.test.dnssec: the zone's records have CDS, which the server makes of its keys: remove it"},
		{"signatures that end before what they sign", "ok.test: {ns: [ns.example.], dnssec: {keys: k, validity: 3h}}",
			"zones.ok.test.dnssec.validity: 3h is too short for TTLs of 3600 seconds: a resolver would keep records for longer than their signatures are good; give at least 4h"},
		{"secondaries", "ok.test: {ns: [ns.example.], soa: {serial: 7}, transfer: {allow: [192.0.2.0/24]}, dnssec: {keys: k, validity: 8d}}",
			"warning: zones.ok.test.transfer: secondaries take new signatures only when the serial grows: raise it at least every 48h"},
		{"a zone below that is not delegated", "ok.test: {ns: [ns.example.], dnssec: {keys: k}}\n  sub.ok.test: {ns: [ns.example.]}",
			"warning: zones.sub.ok.test: the signed zone ok.test. has no NS records for it, and so proves to resolvers that it does not exist"},
		{"a zone below that is", "ok.test: {ns: [ns.example.], dnssec: {keys: k}, records: \"sub NS ns.example.\"}\n  sub.ok.test: {ns: [ns.example.]}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte("zones:\n  " + tc.zones + "\n")})
			_, more := steer.Compile(cfg)
			var got []string
			for _, p := range append(problems, more...) {
				_, text, _ := strings.Cut(p.String(), ": ")
				got = append(got, text)
			}
			if strings.Join(got, "\n") != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}
