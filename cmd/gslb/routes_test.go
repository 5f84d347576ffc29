package main

import (
	"net/netip"
	"testing"
)

func TestNoRoutesSayWhereToLook(t *testing.T) {
	for want, q := range map[string]routesQuery{
		"No routes: of the 3 prefixes that are announced all are refused. gslb routes --refused tells why.": {},
		"No routes around 192.0.2.0/24; the table has 3 prefixes.":                                          {within: netip.MustParsePrefix("192.0.2.0/24")},
		"No routes of sibtel; the table has 3 prefixes.":                                                    {partner: "sibtel"},
		"Nothing is refused; the table has 3 prefixes.":                                                     {refused: true},
	} {
		if got := q.nothing(3); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (routesQuery{}).nothing(0); got != "No routes; the table has 0 prefixes." {
		t.Error(got)
	}
}
