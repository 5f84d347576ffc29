package traffic_test

import (
	"math"
	"net/netip"
	"slices"
	"testing"

	"gslb/dns/traffic"
)

// weighs sums the weights of the clients inside a network.
func weighs(clients []traffic.Crowd, network string) float64 {
	var sum float64
	for _, c := range clients {
		if netip.MustParsePrefix(network).Contains(c.Address) {
			sum += c.Weight
		}
	}
	return sum
}

func TestSampleWeighsBlocksBySize(t *testing.T) {
	s := sunny(t, `
sites: {s: {}}
partners: {sibtel: {site: s, networks: [198.18.7.0/32, "2001:db8:8000::/33", 198.18.128.0/17, 203.0.113.0/24]}}
services: {www: {at: {s: [192.0.2.1]}}}
`)
	clients := traffic.Sample(s, s, 2000)
	const whole = 2*65536 + 256 // IPv4 addresses on the map of the test's world, and in 203.0.113.0/24
	for _, tc := range []struct {
		network string
		want    float64
	}{
		{"0.0.0.0/0", 0.5},
		{"::/0", 0.5},
		{"198.18.0.0/16", 0.5 * 65536 / whole},
		{"198.18.128.0/17", 0.5 * 32768 / whole},
		{"198.18.7.0/32", 0.5 / whole}, // each network that is named has at least one client
		{"203.0.113.0/24", 0.5 * 256 / whole},
		{"198.19.0.0/17", 0.5 * 32768 / whole},
		{"2001:db8::/33", 0.25},
		{"2001:db8:8000::/33", 0.25},
		{"192.0.2.0/24", 0},
	} {
		if got := weighs(clients, tc.network); math.Abs(got-tc.want) > 0.0006 || (tc.want > 0) != (got > 0) {
			t.Errorf("%s weighs %.6f, want %.6f", tc.network, got, tc.want)
		}
	}
	if n := len(clients); n < 1900 || n > 2100 {
		t.Errorf("%d clients, want about 2000", n)
	}
	if again := traffic.Sample(s, s, 2000); !slices.Equal(clients, again) {
		t.Error("another sample of the same space")
	}
}

func TestSampleOfFewClientsIsASampleToo(t *testing.T) {
	s := sunny(t, cdn)
	clients := traffic.Sample(s, s, 3)
	if len(clients) < 2 || len(clients) > 4 || math.Abs(weighs(clients, "0.0.0.0/0")-0.5) > 1e-9 {
		t.Errorf("got %v", clients)
	}
}

// Where nothing is known, anybody is a client.
func TestSampleOfNothing(t *testing.T) {
	s := sunnyOn(t, "datacenters: {a: {}}\nservices: {www: {at: {a: [192.0.2.1]}}}\n", globe(nil))
	clients := traffic.Sample(s, s, 100)
	if len(clients) != 100 || math.Abs(weighs(clients, "128.0.0.0/1")-0.5) > 1e-9 {
		t.Errorf("got %d clients, of which %g in the upper half", len(clients), weighs(clients, "128.0.0.0/1"))
	}
}
