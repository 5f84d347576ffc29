package steer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gslb/config"
	"gslb/dns/steer"
)

// chain is a service in so many datacenters, each with one address.
func chain(places int, keys string) string {
	var all, at strings.Builder
	for i := range places {
		fmt.Fprintf(&all, "  dc-%d: {}\n", i)
		fmt.Fprintf(&at, "      dc-%d: [192.0.2.%d]\n", i, i)
	}
	return "datacenters:\n" + all.String() + "services:\n  chain:\n    steer: [datacenters]\n" + keys + "    at:\n" + at.String() +
		"zones: {ok.test: {ns: [ns.example.], services: {www: chain}}}\n"
}

// An answer has room for so many places. Of more of the same weight all are given equally often, and the shares say so.
func TestMorePlacesThanAnAnswerHasRoomFor(t *testing.T) {
	const places, draws = 40, 2000
	for _, keys := range []string{
		"    answer: all\n", "    answer: all\n    pick: hash\n", "    answer: 36\n", "    answer: 10000\n    pick: hash\n", "    answer: all\n    max_addresses: 255\n",
	} {
		t.Run(keys, func(t *testing.T) {
			s := newWorld(t, chain(places, keys)).snapshot()
			given, most := map[string]int{}, 0
			for i := range draws {
				client := fmt.Sprintf("100.%d.%d.1", i>>8, i&255)
				d, answer := decide(t, s, "chain", client, steer.IPv4, uint64(i)*0x9e3779b97f4a7c15)
				if got := len(d.Members()); got != config.MaxAddresses {
					t.Fatalf("%d places, want %d", got, config.MaxAddresses)
				}
				most = max(most, len(strings.Fields(answer)))
				for _, a := range strings.Fields(answer) {
					given[a]++
				}
			}
			want := float64(draws) * float64(most) / places
			for i := range places {
				a := fmt.Sprintf("192.0.2.%d", i)
				if got := float64(given[a]); math.Abs(got-want) > 6*math.Sqrt(want) {
					t.Errorf("%s was given %.0f times, want about %.0f", a, got, want)
				}
			}
		})
	}
}

func TestSharesOfMorePlacesThanAnAnswerHasRoomFor(t *testing.T) {
	w := newWorld(t, chain(40, "    answer: all\n"))
	shares := w.snapshot().Outlook(0, steer.IPv4).Of(mustAddr("198.18.0.1")).Shares
	if len(shares) != 40 {
		t.Fatalf("%d places have a share, want 40", len(shares))
	}
	for _, share := range shares {
		if math.Abs(share.Part-1.0/40) > 1e-9 {
			t.Errorf("place %d has %.4f, want 1 of 40", share.Member, share.Part)
		}
	}
	if got := w.explain("www.ok.test", "198.18.0.1", ""); strings.Count(got, "share=2%") != 40 {
		t.Errorf("not every place tells its share:\n%s", got)
	}
}
