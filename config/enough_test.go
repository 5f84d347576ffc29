package config

import (
	"strings"
	"testing"
	"time"
)

func TestOneMoreDrainIsRefused(t *testing.T) {
	const text = `
datacenters: {a: {}, b: {}, c: {}}
services:
  two: {min_places: 2, at: {a: [192.0.2.1], b: [192.0.2.2], c: [192.0.2.3]}}
  any: {at: {a: [192.0.2.1]}}
drains: [DRAINS]
`
	for _, tc := range []struct {
		name, drains string
		more         Drain
		refused      bool
	}{
		{"the first", "", Drain{Target: "a"}, false},
		{"the second", "{target: b}", Drain{Target: "a"}, true},
		{"the second, of another service", "{target: b}", Drain{Target: "a", Service: "any"}, false},
		{"the second, with force", "{target: b}", Drain{Target: "a", Force: "flood"}, false},
		{"the same again", "{target: a}", Drain{Target: "a"}, false},
		{"after one that is over", "{target: b, until: 2026-11-30T00:00:00Z}", Drain{Target: "a"}, false},
		{"after one with force", "{target: b, force: flood}", Drain{Target: "a"}, true},
		{"where too few are left already", "{target: a, force: flood}, {target: b, force: flood}", Drain{Target: "c"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, ps := Parse(Source{File: "gslb.yaml", Text: []byte(strings.Replace(text, "DRAINS", tc.drains, 1))})
			if err := append(ps, c.TooFewPlaces(today)...).Err(); err != nil {
				t.Fatal(err)
			}
			if got := c.RefusesDrain(tc.more, today).Err(); (got != nil) != tc.refused {
				t.Errorf("got %v, want a refusal: %t", got, tc.refused)
			}
		})
	}
}

func TestEnoughPlacesFromTheEndOfDrains(t *testing.T) {
	const text = `
datacenters: {a: {}, b: {}, c: {}}
services:
  two: {min_places: 2, at: {a: [192.0.2.1], b: [192.0.2.2], c: [192.0.2.3]}}
drains: [DRAINS]
`
	day := func(n int) time.Time { return today.AddDate(0, 0, n) }
	until := func(place string, n int) string {
		return "{target: " + place + ", until: " + day(n).Format(time.RFC3339) + "}"
	}
	for _, tc := range []struct {
		name, drains string
		want         time.Time
	}{
		{"enough now", until("a", 1), time.Time{}},
		{"one ends", until("a", 2) + ", {target: b}", day(2)},
		{"the first to end", until("a", 3) + ", " + until("b", 1), day(1)},
		{"two must end", until("a", 3) + ", " + until("b", 1) + ", {target: c}", day(3)},
		{"twice the same place", until("a", 1) + ", {target: a}, {target: b}", time.Time{}},
		{"none ends", "{target: a}, {target: b}", time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, ps := Parse(Source{File: "gslb.yaml", Text: []byte(strings.Replace(text, "DRAINS", tc.drains, 1))})
			if err := ps.Err(); err != nil {
				t.Fatal(err)
			}
			if got := c.EnoughFrom(today); !got.Equal(tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDrainIsRefusedBesideWhatIsDownByHand(t *testing.T) {
	const text = `
datacenters: {a: {}, b: {}, c: {}}
services:
  www: {min_places: 2, at: {a: [192.0.2.1], b: [192.0.2.2], c: [192.0.2.3, {address: 192.0.2.4, state: down}]}}
  api: {min_places: 2, at: {a: [192.0.2.5], b: [192.0.2.6], c: [{address: 192.0.2.7, state: down}]}}
`
	c, ps := Parse(Source{File: "gslb.yaml", Text: []byte(text)})
	if err := append(ps, c.TooFewPlaces(today)...).Err(); err != nil {
		t.Fatal(err)
	}
	const want = "gslb.yaml:5:9: services.api.min_places: 1 place left, and there must be 2: " +
		"a would be drained, c is down by hand at gslb.yaml:5:61; end a drain, or say why it must be by its force key"
	for _, tc := range []struct {
		more Drain
		want string
	}{
		{Drain{Target: "a"}, want},
		{Drain{Target: "a", Service: "api"}, want},
		{Drain{Target: "a", Service: "www"}, ""},
		{Drain{Target: "a", Force: "flood"}, ""},
		{Drain{Target: "c"}, ""},
	} {
		got := ""
		if err := c.RefusesDrain(tc.more, today).Err(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("drain of %s %s: got %q, want %q", tc.more.Target, tc.more.Service, got, tc.want)
		}
	}
}
