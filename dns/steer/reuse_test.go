package steer_test

import (
	"strings"
	"testing"

	"gslb/dns/steer"
)

// Every edit of geography must be seen by a snapshot that is built on one from before it.
func TestSnapshotAfterAnEditAnswersAsANewOne(t *testing.T) {
	const text = `
datacenters:
  msk: {location: [55.75, 37.62]}
  fra: {location: [50.11, 8.68]}
sites:
  nsk: {location: [55.03, 82.92]}
  ekb: {location: [56.84, 60.61], partners_only: true}
partners:
  one: {site: ekb, networks: [203.0.113.0/24]}
  two: {site: nsk, networks: [203.0.113.0/25]}
maps:
  world:
    - {country: RU, to: [msk, nsk]}
    - {country: US, networks: [192.88.99.0/25], to: [nsk]}
    - {to: nearest}
services:
  mapped: {map: world, answer: all, at: {msk: [192.0.2.1], fra: [192.0.2.2], nsk: [192.0.2.3], ekb: [192.0.2.4]}}
  near: {answer: all, at: {msk: [192.0.2.1], fra: [192.0.2.2], ekb: [192.0.2.4]}}
zones:
  ok.test: {ns: [ns1], records: ns1 A 192.0.2.53, services: {www: mapped, near: near}}
`
	clients := []string{
		"198.18.0.1", "198.19.0.1", "198.19.128.1", "192.88.99.1", "192.88.99.129", "192.88.98.1", "203.0.113.1", "203.0.113.129", "2001:db8::1", "8.8.8.8",
	}
	for name, edit := range map[string][2]string{
		"nothing":               {"ns1 A", "ns1 A"},
		"a drain":               {"zones:", "drains: [{target: msk}]\nzones:"},
		"a location":            {"fra: {location: [50.11, 8.68]}", "fra: {location: [55.0, 83.0]}"},
		"order of places":       {"  msk: {location: [55.75, 37.62]}\n  fra: {location: [50.11, 8.68]}", "  fra: {location: [50.11, 8.68]}\n  msk: {location: [55.75, 37.62]}"},
		"a new place":           {"sites:\n", "sites:\n  spb: {location: [59.9, 30.3]}\n"},
		"a rule's tiers":        {"to: [msk, nsk]", "to: [nsk, msk]"},
		"a rule's networks":     {"192.88.99.0/25", "192.88.99.128/25"},
		"a rule less":           {"    - {country: RU, to: [msk, nsk]}\n", ""},
		"another map":           {"mapped: {map: world, ", "mapped: {"},
		"a member less":         {"near: {answer: all, at: {msk: [192.0.2.1], ", "near: {answer: all, at: {"},
		"a place for partners":  {"nsk: {location: [55.03, 82.92]}", "nsk: {location: [55.03, 82.92], partners_only: true}"},
		"a weight":              {"fra: {location: [50.11, 8.68]}", "fra: {location: [50.11, 8.68], weight: 7}"},
		"a partner's site":      {"one: {site: ekb,", "one: {site: nsk,"},
		"a partner in shadow":   {"two: {site: nsk,", "two: {shadow: true, site: nsk,"},
		"a partner's networks":  {"[203.0.113.0/25]", "[203.0.113.128/25]"},
		"sites of two partners": {"{site: ekb, networks: [203.0.113.0/24]}\n  two: {site: nsk,", "{site: nsk, networks: [203.0.113.0/24]}\n  two: {site: ekb,"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(text, edit[0]) {
				t.Fatalf("the text has no %q", edit[0])
			}
			prev := newWorld(t, text).snapshot()
			w := newWorld(t, strings.Replace(text, edit[0], edit[1], 1))
			w.geo = prev.Geo()
			after, fresh := w.after(prev), w.snapshot()
			for _, service := range []string{"mapped", "near"} {
				for _, c := range clients {
					got, addresses := decide(t, after, service, c, steer.IPv4, 1)
					want, wanted := decide(t, fresh, service, c, steer.IPv4, 1)
					if got.Span != want.Span || got.Placed != want.Placed || addresses != wanted {
						t.Errorf("%s for %s: got %s %s/%d, want %s %s/%d", service, c, addresses, got.Placed, got.Span, wanted, want.Placed, want.Span)
					}
				}
			}
		})
	}
}

// To cut the world or a million routes anew takes seconds. What they do not depend on must not have it done.
func TestEditsThatCutNothing(t *testing.T) {
	w := newWorld(t, cdn)
	before := w.snapshot()
	for name, tc := range map[string]struct {
		edit            [2]string
		views, partners bool
	}{
		"a weight":          {[2]string{"fra:   {location", "fra:   {weight: 7, location"}, false, false},
		"a capacity":        {[2]string{"fra:   {location", "fra:   {capacity: 7, location"}, false, false},
		"a drain":           {[2]string{"drains: []", "drains: [{target: fra}]"}, false, false},
		"an address":        {[2]string{"192.0.2.31", "192.0.2.32"}, false, false},
		"a location":        {[2]string{"[50.11, 8.68]", "[50.11, 9.68]"}, true, true},
		"a partner's site":  {[2]string{"{site: spb, networks", "{site: nsk, networks"}, false, true},
		"a rule of its own": {[2]string{"  video:\n", "  video:\n    map: m\n"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(cdn, tc.edit[0], tc.edit[1], 1) + "maps: {m: [{to: [fra]}]}\n"
			if !strings.Contains(cdn, tc.edit[0]) {
				t.Fatalf("the text has no %q", tc.edit[0])
			}
			after := newWorld(t, text)
			after.geo, after.routes = w.geo, w.routes
			views, partners := after.after(before).CutSince(before)
			if views != tc.views || partners != tc.partners {
				t.Errorf("views cut: %v, want %v; routes cut: %v, want %v", views, tc.views, partners, tc.partners)
			}
		})
	}
}
