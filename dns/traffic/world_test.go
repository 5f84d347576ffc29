package traffic_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/traffic"
	"gslb/geo"
)

// noon is when every test of this package takes place.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// failer is what tests, benchmarks and properties have in common.
type failer interface {
	Helper()
	Fatal(...any)
}

// sunny is the snapshot of a config where everything is up, on a globe of two countries.
func sunny(t failer, text string) *steer.Snapshot {
	t.Helper()
	return sunnyOn(t, text, globe(map[string]geo.Location{
		"198.18.0.0/16":   {Continent: "EU", Country: "DE", Latitude: 51, Longitude: 9, Located: true},
		"198.19.0.0/17":   {Continent: "EU", Country: "RU", Region: "MOW", Latitude: 55.7, Longitude: 37.6, Located: true},
		"198.19.128.0/17": {Continent: "EU", Country: "RU", Region: "NVS", Latitude: 55, Longitude: 83, Located: true},
		"2001:db8::/33":   {Continent: "EU", Country: "DE", Latitude: 51, Longitude: 9, Located: true},
	}))
}

func sunnyOn(t failer, text string, world *geo.Map) *steer.Snapshot {
	t.Helper()
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return traffic.Sunny(policy, world, noon)
}

func globe(networks map[string]geo.Location) *geo.Map {
	return geo.NewMap(func(yield func(netip.Prefix, geo.Location) bool) {
		for _, p := range slices.Sorted(maps.Keys(networks)) {
			if !yield(netip.MustParsePrefix(p), networks[p]) {
				return
			}
		}
	})
}

func mustAddr(s string) netip.Addr { return netip.MustParseAddr(s) }

// drawn is a random snapshot: places of random weights, a few partners and rules, whose networks lie in 198.18.0.0/23,
// two services, and now and then a drain.
func drawn(t *rapid.T) *steer.Snapshot {
	var b strings.Builder
	places := rapid.IntRange(2, 5).Draw(t, "places")
	b.WriteString("sites: {s: {partners_only: true}}\ndatacenters:\n")
	for i := range places {
		fmt.Fprintf(&b, "  p%d: {location: [0, %d], weight: %d}\n", i, rapid.IntRange(0, 9).Draw(t, "east"), rapid.IntRange(0, 9).Draw(t, "weight"))
	}
	fmt.Fprintf(&b, "partners: {sibtel: {site: s, networks: [%s]}}\nmaps:\n  m:\n", drawNetworks(t))
	for range rapid.IntRange(1, 3).Draw(t, "rules") {
		to := rapid.SliceOfNDistinct(rapid.IntRange(0, places-1), 1, 2, rapid.ID).Draw(t, "to")
		fmt.Fprintf(&b, "    - {networks: [%s], to: [p%d, p%d]}\n", drawNetworks(t), to[0], to[len(to)-1])
	}
	b.WriteString("services:\n")
	for i := range 2 {
		var at []string
		for j := range places {
			var addresses []string
			for n := range rapid.IntRange(1, 3).Draw(t, "addresses") {
				addresses = append(addresses, fmt.Sprintf("192.0.%d.%d", 2+n, j))
			}
			at = append(at, fmt.Sprintf("p%d: [%s]", j, strings.Join(addresses, ", ")))
		}
		fmt.Fprintf(&b, "  s%d: {map: m, steer: [%s], answer: %d, pick: %s, at: {s: [192.0.2.99], %s}}\n", i,
			strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"partners", "geo", "datacenters"}), 1, 3, rapid.ID).Draw(t, "steer"), ", "),
			rapid.IntRange(1, places).Draw(t, "answer"), rapid.SampledFrom([]string{"weighted", "hash"}).Draw(t, "pick"), strings.Join(at, ", "))
	}
	if drained := rapid.IntRange(-1, places-1).Draw(t, "drained"); drained >= 0 {
		fmt.Fprintf(&b, "drains: [{target: p%d, hard: %t}]\n", drained, rapid.Bool().Draw(t, "hard"))
	}
	return sunny(t, b.String())
}

func drawNetworks(t *rapid.T) string {
	network := rapid.Custom(func(t *rapid.T) string {
		a := netip.AddrFrom4([4]byte{198, 18, rapid.ByteRange(0, 1).Draw(t, "third"), rapid.Byte().Draw(t, "fourth")})
		return netip.PrefixFrom(a, rapid.IntRange(23, 32).Draw(t, "bits")).Masked().String()
	})
	return strings.Join(rapid.SliceOfNDistinct(network, 1, 4, rapid.ID).Draw(t, "networks"), ", ")
}
