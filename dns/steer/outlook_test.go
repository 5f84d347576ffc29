package steer_test

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gslb/dns/steer"
)

// drawnService is a service at places of random weights and numbers of addresses.
func drawnService(t *rapid.T, places int) string {
	var names, at []string
	for i := range places {
		names = append(names, fmt.Sprintf("p%d: {}", i))
		var addresses []string
		for j := range rapid.IntRange(1, 3).Draw(t, "addresses") {
			addresses = append(addresses, fmt.Sprintf("192.0.%d.%d", 2+j, i))
		}
		at = append(at, fmt.Sprintf("p%d: {addresses: [%s], weight: %d}", i, strings.Join(addresses, ", "), rapid.IntRange(0, 9).Draw(t, "weight")))
	}
	return fmt.Sprintf("datacenters: {%s}\nservices: {www: {steer: [datacenters], answer: %d, pick: %s, at: {%s}}}\n", strings.Join(names, ", "),
		rapid.IntRange(1, places).Draw(t, "answer"), rapid.SampledFrom([]string{"weighted", "hash"}).Draw(t, "pick"), strings.Join(at, ", "))
}

// placeOf tells which place of a drawn service has an address.
func placeOf(a netip.Addr) string { return fmt.Sprintf("p%d", a.As4()[3]) }

// counted gives the shares that places have of the addresses of many answers.
func counted(s *steer.Snapshot, draws int) map[string]float64 {
	shares := map[string]float64{}
	client := s.Client(mustAddr("11.0.0.1"), steer.Subnet{})
	seed := uint64(1)
	for range draws {
		seed = seed*6364136223846793005 + 1442695040888963407
		d := steer.Decide(s, steer.Query{Client: client, Seed: seed ^ seed>>31})
		answer := d.Addresses(s, 0, nil)
		for _, a := range answer {
			shares[placeOf(a)] += 1 / float64(draws) / float64(len(answer))
		}
	}
	return shares
}

func shares(s *steer.Snapshot) map[string]float64 {
	all := map[string]float64{}
	for _, share := range s.Outlook(0, steer.IPv4).Of(mustAddr("11.0.0.1")).Shares {
		all[s.Policy().Service(0).Places()[share.Member]] = share.Part
	}
	return all
}

// What a client can expect is what it gets over many draws.
func TestSharesAreThoseOfManyDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawnService(t, rapid.IntRange(1, 5).Draw(t, "places"))
		s := newWorld(t, text).snapshot()
		got, want := shares(s), counted(s, 4000)
		var sum float64
		for place, share := range got {
			sum += share
			if math.Abs(share-want[place]) > 0.05 {
				t.Fatalf("%s has %.3f, and gets %.3f\n%s", place, share, want[place], text)
			}
		}
		if math.Abs(sum-1) > 1e-9 || len(got) < len(want) {
			t.Fatalf("shares %v, want %v\n%s", got, want, text)
		}
	})
}

// With many candidates the shares are worked out roughly, and are close all the same.
func TestSharesOfManyCandidates(t *testing.T) {
	var names, at []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("p%d: {}", i))
		at = append(at, fmt.Sprintf("p%d: {addresses: [192.0.2.%d], weight: %d}", i, i, 1+i%4*3))
	}
	text := fmt.Sprintf("datacenters: {%s}\nservices: {www: {steer: [datacenters], answer: 5, at: {%s}}}\n", strings.Join(names, ", "), strings.Join(at, ", "))
	s := newWorld(t, text).snapshot()
	got, want := shares(s), counted(s, 20000)
	if len(got) != 20 {
		t.Fatalf("%d places, want 20", len(got))
	}
	for place, share := range got {
		if math.Abs(share-want[place]) > 0.006 {
			t.Errorf("%s has %.4f, and gets %.4f", place, share, want[place])
		}
	}
}

func TestNobodyHasAShareOfNoAnswer(t *testing.T) {
	s := newWorld(t, "sites: {s: {partners_only: true}}\nservices: {www: {at: {s: [192.0.2.1]}}}\n").snapshot()
	if got := shares(s); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
