package steer_test

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// recordsOf shows a set of records of addresses.
func recordsOf(set sign.Set) string {
	var words []string
	for data := set.Records; len(data) > 0; {
		n := 2 + int(data[0])<<8 + int(data[1])
		a, _ := netip.AddrFromSlice(data[2:n])
		words, data = append(words, a.String()), data[n:]
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

const coming = cdn + `
  pair:
    check: web
    steer: [datacenters]
    answer: 2
    max_addresses: 2
    at:
      msk-1: [192.0.2.101, 192.0.2.102]
      msk-2: [192.0.2.103]
      fra:   [192.0.2.104, "2001:db8::104"]
  need:
    check: web
    steer: [datacenters]
    at:
      msk-1: {addresses: [192.0.2.111, 192.0.2.112, 192.0.2.113], min_healthy: 2}
      fra:   [192.0.2.114]
  wide:
    check: web
    steer: [datacenters]
    answer: all
    at:
      msk-1: [192.0.2.121, 192.0.2.122, "2001:db8::121"]
      msk-2: {addresses: [192.0.2.123, "2001:db8::123"], weight: 0}
      fra:   [192.0.2.124, 192.0.2.125]
`

// Whatever two endpoints do, and whoever asks: what is given then was foreseen.
func TestForeseesWhatTwoChangesBring(t *testing.T) {
	text := strings.Replace(coming, "zones:", "ZONES", 1)
	zones := text[strings.Index(text, "ZONES"):strings.Index(text, "  pair:")]
	text = strings.Replace(text, zones, "", 1) + strings.Replace(zones, "ZONES", "zones:", 1)
	policy := compile(t, text)
	before := worldOf(t, policy).snapshot()
	var addresses []string
	for _, target := range policy.Targets() {
		addresses = append(addresses, target.Address.String())
	}
	foreseen := map[string]bool{}
	for n, svc := range policy.Services() {
		sets := before.Coming(n, steer.MaxChanges)
		if len(sets) > 256 {
			t.Fatalf("%d sets", len(sets))
		}
		for _, set := range sets {
			foreseen[fmt.Sprint(svc.Name(), set.Type, recordsOf(set))] = true
		}
	}
	missed, seen := map[string]bool{}, 0
	for i, one := range addresses {
		for _, other := range addresses[:i+1] {
			w := worldOf(t, policy)
			for _, a := range []string{one, other} {
				w.check(a, strings.Repeat("-", 20))
			}
			for given := range givenOf(t, w.snapshot()) {
				seen++
				if !foreseen[given] {
					missed[fmt.Sprintf("%s, without %s, %s", given, one, other)] = true
				}
			}
		}
	}
	for m := range missed {
		t.Error("not foreseen:", m)
	}
	if seen < 5000 {
		t.Errorf("only %d answers", seen)
	}
}

// givenOf gives what services give to clients of all kinds, as TestForeseesWhatTwoChangesBring writes sets down.
func givenOf(t *testing.T, s *steer.Snapshot) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, svc := range s.Policy().Services() {
			for rrtype, family := range map[uint16]steer.Family{zone.TypeA: steer.IPv4, zone.TypeAAAA: steer.IPv6} {
				for seed := range uint64(6) {
					for _, client := range []string{"203.0.113.200", "198.19.0.1", "198.19.200.1", "192.88.99.1"} {
						_, answer := decide(t, s, svc.Name(), client, family, seed*0x9e3779b97f4a7c15)
						words := strings.Fields(answer)
						slices.Sort(words)
						if len(words) > 0 && !yield(fmt.Sprint(svc.Name(), rrtype, strings.Join(words, " "))) {
							return
						}
					}
				}
			}
		}
	}
}
