package steer_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gslb/dns/steer"
)

// shop is four datacenters that share one service.
func shop(pick string, answer string, weights ...int) string {
	var b strings.Builder
	b.WriteString("datacenters: {a: {}, b: {}, c: {}, d: {}}\nservices:\n  shop:\n    steer: [datacenters]\n")
	fmt.Fprintf(&b, "    pick: %s\n    answer: %s\n    at:\n", pick, answer)
	for i, weight := range weights {
		if weight >= 0 {
			fmt.Fprintf(&b, "      %c: {addresses: [192.0.2.%d], weight: %d}\n", 'a'+i, i+1, weight)
		}
	}
	b.WriteString("zones: {ok.test: {ns: [ns.example.], services: {www: shop}}}\n")
	return b.String()
}

// A share may be as far from its weight as luck takes it once in two million times; where luck has no say, not at all.
func TestWeightedSharesFollowTheWeights(t *testing.T) {
	draws := 50_000
	if os.Getenv("GSLB_LONG") != "" {
		draws = 1_000_000 // where luck takes a share 0.22 % away at most
	}
	for _, weights := range [][]int{{100, 100, 100, 100}, {50, 30, 20, 0}, {1, 0, 0, 999}, {0, 0, 0, 0}} {
		t.Run(fmt.Sprint(weights), func(t *testing.T) {
			s := newWorld(t, shop("weighted", "1", weights...)).snapshot()
			client := s.Client(mustAddr("198.18.0.1"), steer.Subnet{})
			counts, total := map[string]int{}, 0
			for seed := range draws {
				d := steer.Decide(s, steer.Query{Client: client, Seed: uint64(seed)})
				counts[d.Addresses(s, 0, nil)[0].String()]++
			}
			for _, weight := range weights {
				total += weight
			}
			for i, weight := range weights {
				want := 0.25
				if total > 0 {
					want = float64(weight) / float64(total)
				}
				got := float64(counts[fmt.Sprintf("192.0.2.%d", i+1)]) / float64(draws)
				if most := 5 * math.Sqrt(want*(1-want)/float64(draws)); math.Abs(got-want) > most {
					t.Errorf("place %c: share %.4f, want %.4f, give or take %.4f", 'a'+i, got, want, most)
				}
			}
		})
	}
}

func TestAnswerTakesSoManyPlacesAndNeverOneTwice(t *testing.T) {
	for _, tc := range []struct {
		pick, answer string
		weights      []int
		want         int
	}{
		{"weighted", "2", []int{100, 100, 100, 100}, 2}, {"weighted", "9", []int{100, 1, 1, 100}, 4}, {"weighted", "3", []int{100, 100, 0, 0}, 2},
		{"hash", "2", []int{100, 100, 100, 100}, 2}, {"hash", "9", []int{100, 1, 1, 100}, 4}, {"hash", "3", []int{0, 0, 0, 0}, 3},
		{"weighted", "all", []int{100, 0, 1, 100}, 3}, {"weighted", "all", []int{0, 0, 0, 0}, 4}, {"hash", "all", []int{100, 0, 1, 100}, 3},
	} {
		t.Run(fmt.Sprint(tc.pick, tc.answer, tc.weights), func(t *testing.T) {
			w := newWorld(t, shop(tc.pick, tc.answer, tc.weights...))
			for seed := range uint64(50) {
				_, got := w.ask("shop", "198.18.0.1", steer.IPv4, seed)
				places := strings.Fields(got)
				seen := map[string]bool{}
				for _, p := range places {
					seen[p] = true
				}
				if len(places) != tc.want || len(seen) != tc.want {
					t.Fatalf("seed %d: got %q, want %d different places", seed, got, tc.want)
				}
			}
		})
	}
}

func TestHashKeepsAClientNetworkOnItsPlace(t *testing.T) {
	w := newWorld(t, shop("hash", "1", 100, 100, 100, 100))
	d, first := w.ask("shop", "198.18.7.1", steer.IPv4, 1)
	if d.Span != 24 {
		t.Errorf("scope %d, want 24: the answer depends on that much of the client", d.Span)
	}
	for i := range 256 {
		if _, got := w.ask("shop", fmt.Sprintf("198.18.7.%d", i), steer.IPv4, uint64(i)); got != first {
			t.Fatalf("198.18.7.%d got %s, 198.18.7.1 %s", i, got, first)
		}
	}
	if d, _ := w.ask("shop", "2001:db8::1", steer.IPv4, 1); d.Span != 56 {
		t.Errorf("scope of an IPv6 client %d, want 56", d.Span)
	}
}

func TestHashMovesOnlyWhatMustMove(t *testing.T) {
	const clients = 20_000
	equal := []int{100, 100, 100, 100}
	shares := func(weights ...int) []string {
		w := newWorld(t, shop("hash", "1", weights...))
		s := w.snapshot()
		places := make([]string, clients)
		for i := range places {
			_, places[i] = decide(t, s, "shop", fmt.Sprintf("100.%d.%d.1", i>>8, i&255), steer.IPv4, 0)
		}
		return places
	}
	for _, tc := range []struct {
		name          string
		were, weights []int
		moved         float64           // share that moves
		from          func(string) bool // who may move
		to            func(string) bool
	}{
		{"a place leaves", equal, []int{100, 100, 100, -1}, 0.25, is("192.0.2.4"), isNot("192.0.2.4")},
		{"a place loses half its weight", equal, []int{100, 100, 100, 50}, 0.25 - 50.0/350, is("192.0.2.4"), isNot("192.0.2.4")},
		{"a place gains", equal, []int{100, 100, 100, 200}, 200.0/500 - 0.25, isNot("192.0.2.4"), is("192.0.2.4")},
		{"a place joins", []int{100, 100, 100, -1}, equal, 0.25, isNot("192.0.2.4"), is("192.0.2.4")},
		{"a place stands aside", equal, []int{100, 100, 100, 0}, 0.25, is("192.0.2.4"), isNot("192.0.2.4")},
		{"all weights double", equal, []int{200, 200, 200, 200}, 0, isNot(""), isNot("")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, moved := shares(tc.were...), 0
			for i, after := range shares(tc.weights...) {
				if after == before[i] {
					continue
				}
				moved++
				if !tc.from(before[i]) || !tc.to(after) {
					t.Fatalf("client %d moved from %s to %s", i, before[i], after)
				}
			}
			if got := float64(moved) / clients; math.Abs(got-tc.moved) > 0.015 {
				t.Errorf("%.3f of the clients moved, want %.3f", got, tc.moved)
			}
		})
	}
}

// Servers may have the same places in another order, and other services beside: a hash does not see that.
func TestEveryServerHashesAlike(t *testing.T) {
	one := newWorld(t, shop("hash", "2", 100, 50, 20, 1)).snapshot()
	other := newWorld(t, `
datacenters: {z: {}, d: {}, b: {}, a: {}, c: {}}
services:
  first: {at: {z: [192.0.2.9]}}
  shop:
    steer: [datacenters]
    answer: 2
    pick: hash
    at:
      c: {addresses: [192.0.2.3], weight: 20}
      a: {addresses: [192.0.2.1], weight: 100}
      d: {addresses: [192.0.2.4], weight: 1}
      b: {addresses: [192.0.2.2], weight: 50}
`).snapshot()
	for i := range 2000 {
		client := fmt.Sprintf("100.%d.%d.1", i>>8, i&255)
		_, got := decide(t, one, "shop", client, steer.IPv4, uint64(i))
		if _, want := decide(t, other, "shop", client, steer.IPv4, uint64(i+1)); got != want {
			t.Fatalf("%s gets %s from one server, %s from another", client, got, want)
		}
	}
}

func TestWeightNothingStandsAside(t *testing.T) {
	for _, answer := range []string{"1", "2", "all"} {
		t.Run("answer "+answer, func(t *testing.T) { weightNothingStandsAside(t, answer) })
	}
}

func weightNothingStandsAside(t *testing.T, answer string) {
	text := strings.Replace(shop("weighted", answer, 100, 0, 0, -1), "services:\n  shop:\n", "checks: {web: {http: {}}}\nservices:\n  shop:\n    check: web\n", 1)
	for _, pick := range []string{"weighted", "hash"} {
		w := newWorld(t, strings.Replace(text, "pick: weighted", "pick: "+pick, 1))
		given := func() (places []string) {
			for i := range 300 {
				_, got := w.ask("shop", fmt.Sprintf("100.0.%d.1", i%256), steer.IPv4, uint64(i))
				for _, place := range strings.Fields(got) {
					if !slices.Contains(places, place) {
						places = append(places, place)
					}
				}
			}
			slices.Sort(places)
			return places
		}
		if got := given(); !slices.Equal(got, []string{"192.0.2.1"}) {
			t.Errorf("%s: got %v while the place with a weight serves", pick, got)
		}
		w.check("192.0.2.1", "----------")
		if got := given(); !slices.Equal(got, []string{"192.0.2.2", "192.0.2.3"}) {
			t.Errorf("%s: got %v when only places of weight 0 are left", pick, got)
		}
	}
}

func is(want string) func(string) bool    { return func(s string) bool { return s == want } }
func isNot(want string) func(string) bool { return func(s string) bool { return s != want } }

func TestAddressesRotateAndStayWithinTheBound(t *testing.T) {
	text := strings.Replace(shop("weighted", "all", 100, 100, 100, 100), "    answer: all\n", "    answer: all\n    max_addresses: 3\n", 1)
	s := newWorld(t, text).snapshot()
	client := s.Client(mustAddr("198.18.0.1"), steer.Subnet{})
	first := map[string]int{}
	for seed := range uint64(4000) {
		d := steer.Decide(s, steer.Query{Client: client, Seed: seed << 32})
		addresses := d.Addresses(s, 0, nil)
		if len(addresses) != 3 {
			t.Fatalf("%d addresses, want 3", len(addresses))
		}
		first[addresses[0].String()]++
	}
	for a, n := range first {
		if n != 1000 {
			t.Errorf("%s came first %d times of 4000", a, n)
		}
	}
}
