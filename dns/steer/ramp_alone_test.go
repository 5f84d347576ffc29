package steer_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ladder is a service whose places come one after the other, all with ramps, and drained until so many seconds after noon.
func ladder(untils []int) string {
	var at, drains []string
	for i, until := range untils {
		at = append(at, fmt.Sprintf("%c: [192.0.2.%d]", 'a'+i, i+1))
		if until > 0 {
			drains = append(drains, fmt.Sprintf("{target: %c, until: %s}", 'a'+i, noon.Add(time.Duration(until)*time.Second).Format(time.RFC3339)))
		}
	}
	return "datacenters: {a: {}, b: {}, c: {}}\nmaps: {m: [{to: [a, b, c]}]}\n" +
		"services: {shop: {steer: [geo], map: m, ramp: 10m, at: {" + strings.Join(at, ", ") + "}}}\n" +
		"zones: {ok.test: {ns: [ns.example.], services: {www: shop}}}\ndrains: [" + strings.Join(drains, ", ") + "]\n"
}

const ladderClients = 30

// Places come back one after the other while nobody else serves, or somebody does. At that moment nobody moves, since
// whoever was there carries everybody, and afterwards every client only ever moves to a better place.
func TestNobodyMovesAtOnceWhenAllThatServeComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		untils := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 1500)), 3, 3).Draw(t, "drained for seconds")
		s := &server{world: newWorld(t, ladder(untils))}
		s.next()

		places := func(now time.Time) (all []string) {
			for i := range ladderClients {
				_, place := decideAt(s.latest, netip.AddrFrom4([4]byte{100, 1, byte(i), 1}), now)
				all = append(all, place)
			}
			return all
		}
		served := slices.Min(untils)
		last := slices.Repeat([]string{"[192.0.2.9]"}, ladderClients) // behind all
		for second := served; second < 2200; second++ {
			now := noon.Add(time.Duration(second) * time.Second)
			comesBack := second > served && slices.Contains(untils, second)
			if second%19 > 0 && !comesBack && second > served {
				continue
			}
			before := last
			if comesBack {
				before = places(now.Add(-1))
			}
			s.now = now
			s.next()
			last = places(now)
			for i, is := range last {
				if is > before[i] || comesBack && is != before[i] {
					t.Fatalf("second %d: client %d moves from %s to %s", second, i, before[i], is)
				}
			}
		}
	})
}
