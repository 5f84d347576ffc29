package steer_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/zone"
	"gslb/geo"
	"gslb/health"
)

// The large world of the benchmarks: what one server is meant to hold.
const (
	largePlaces   = 10_000
	largeServices = 100_000
	largeNames    = 1_000_000
	largePartners = 4
	largeZones    = 10
	largeSets     = 100 // sets of places that services have: what a partition of the address space is made for
)

// large is the configuration of the large world, as texts.
type large struct {
	config config.Source
	zones  map[string]string // by path
}

// newLarge is the large world, or one so many times smaller.
func newLarge(smaller int) *large {
	largePlaces, largeServices, largeNames := largePlaces/smaller, largeServices/smaller, largeNames/smaller
	var b strings.Builder
	b.WriteString("checks:\n  web: {http: {path: /ping}, interval: 10s}\ndatacenters:\n")
	for i := range largePlaces {
		fmt.Fprintf(&b, "  p%d: {location: [%d.5, %d.25]}\n", i, i*7%140-70, i*13%350-170)
	}
	b.WriteString("sites:\n")
	for i := range largePartners {
		fmt.Fprintf(&b, "  site%d: {partners_only: true}\n", i)
	}
	b.WriteString("partners:\n")
	for i := range largePartners {
		fmt.Fprintf(&b, "  partner%d: {site: site%d, networks: [203.0.%d.0/24]}\n", i, i, i)
	}
	b.WriteString("services:\n")
	for i := range largeServices {
		first := i % largeSets * (largePlaces / largeSets)
		fmt.Fprintf(&b, "  s%d: {check: web, at: {p%d: [10.%d.%d.1], p%d: [10.%d.%d.2], p%d: [10.%d.%d.3]}}\n",
			i, first, i>>8&255, i&255, (first+30)%largePlaces, i>>8&255, i&255, (first+60)%largePlaces, i>>8&255, i&255)
	}
	l := &large{zones: map[string]string{}}
	b.WriteString("zones:\n")
	for z := range largeZones {
		fmt.Fprintf(&b, "  z%d.test:\n    ns: [ns1]\n    file: /z%d.zone\n    services:\n", z, z)
		for i := range largeServices / largeZones {
			fmt.Fprintf(&b, "      w%d: s%d\n", i, i*largeZones+z)
		}
		l.zones[fmt.Sprintf("/z%d.zone", z)] = zoneText((largeNames - largeServices) / largeZones)
	}
	l.config = config.Source{File: "/gslb.yaml", Text: []byte(b.String())}
	return l
}

// zoneText is a zone file with so many names.
func zoneText(names int) string {
	var b strings.Builder
	b.WriteString("ns1 A 192.0.2.53\n")
	for i := range names - 2 { // the apex is a name, too
		fmt.Fprintf(&b, "host-%d 300 IN A 192.0.%d.%d\n", i, i>>8&255, i&255)
	}
	return b.String()
}

func (l *large) parse(tb testing.TB) *config.Config {
	cfg, problems := config.ParseWith(func(path string) (string, error) { return l.zones[path], nil }, l.config)
	if err := problems.Err(); err != nil {
		tb.Fatal(err)
	}
	return cfg
}

func (l *large) compile(tb testing.TB) *steer.Policy {
	policy, problems := steer.Compile(l.parse(tb))
	if err := problems.Err(); err != nil {
		tb.Fatal(err)
	}
	return policy
}

// largeRoutes is a million prefixes of the partners, spread over IPv4 as those of a full table are.
func largeRoutes() *bgp.Table {
	x, seen := uint32(1), map[netip.Prefix]bool{}
	var routes []bgp.Route
	for len(seen) < 1_000_000 {
		x = x*1664525 + 1013904223
		a := netip.AddrFrom4([4]byte{byte(11 + x>>24%80), byte(x >> 16), byte(x >> 8), 0})
		p := netip.PrefixFrom(a, 20+int(x>>4%5)).Masked()
		if seen[p] {
			continue
		}
		seen[p] = true
		routes = append(routes, bgp.Route{Prefix: p, Partner: fmt.Sprintf("partner%d", x>>8%largePartners), Preference: 100})
	}
	return bgp.NewTable(1, routes)
}

// BenchmarkLargeConfigToSnapshot goes all the way from texts to the first snapshot.
func BenchmarkLargeConfigToSnapshot(b *testing.B) {
	l, routes, world := newLarge(1), largeRoutes(), builtinWorld(b)
	before, used := liveHeap(), processorTime(b)
	var parse, compile, apply, build time.Duration
	var s *steer.Snapshot
	for b.Loop() {
		s = nil
		start := time.Now()
		cfg := l.parse(b)
		parse += lap(&start)
		policy, problems := steer.Compile(cfg)
		if err := problems.Err(); err != nil {
			b.Fatal(err)
		}
		compile += lap(&start)
		board := health.NewBoard()
		board.Apply(policy.Targets(), noon)
		apply += lap(&start)
		s = steer.Build(steer.Inputs{Policy: policy, Config: 1, Health: board.Latest(), Routes: routes, Geo: world, Now: noon}, nil)
		build += lap(&start)
	}
	b.ReportMetric(parse.Seconds()/float64(b.N), "parse-s")
	b.ReportMetric(compile.Seconds()/float64(b.N), "compile-s")
	b.ReportMetric(apply.Seconds()/float64(b.N), "board-s")
	b.ReportMetric(build.Seconds()/float64(b.N), "build-s")
	b.ReportMetric(float64(processorTime(b)-used)/1e9/float64(b.N), "cpu-s")
	b.ReportMetric(float64(liveHeap()-before)/1e6, "live-MB")
	runtime.KeepAlive(s)
	runtime.KeepAlive(l)
	runtime.KeepAlive(routes)
}

// What the large world costs is bounded by what a tenth of it does in the same run, so that any machine holds it: ten
// times as much, and a bit for what sorts. What is alive in the end, with the configuration, is at most 1 KB a name; and
// an edit of one place makes no zone again.
func TestLargeConfigCostsWhatItHolds(t *testing.T) {
	if os.Getenv("GSLB_SCALE") == "" {
		t.Skip("takes a minute, and ten with the race detector; GSLB_SCALE=1 runs it")
	}
	world := builtinWorld(t)
	cost := func(smaller int) (used time.Duration, live int64) {
		l := newLarge(smaller)
		empty, before := liveHeap(), processorTime(t)
		cfg := l.parse(t)
		policy, problems := steer.Compile(cfg)
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		board := health.NewBoard()
		board.Apply(policy.Targets(), noon)
		s := steer.Build(steer.Inputs{Policy: policy, Config: 1, Health: board.Latest(), Routes: bgp.NewTable(1, nil), Geo: world, Now: noon}, nil)
		used, live = processorTime(t)-before, liveHeap()-empty
		again := l.edited(t, policy)
		for i := range largeZones {
			origin, err := zone.ParseName(fmt.Sprintf("z%d.test", i))
			if err != nil {
				t.Fatal(err)
			}
			was, _ := policy.Zone(origin)
			if kept, _ := again.Zone(origin); kept == nil || kept != was {
				t.Errorf("%s is made again", origin)
			}
		}
		runtime.KeepAlive([]any{l, cfg, board, s})
		return used, live
	}
	tenth, _ := cost(10)
	whole, live := cost(1)
	t.Logf("%s of processors, a tenth takes %s; %d MB", whole, tenth, live/1e6)
	if whole > 16*tenth {
		t.Errorf("it takes %s of processors, and a tenth of it %s", whole, tenth)
	}
	if live > largeNames<<10 {
		t.Errorf("%d bytes are alive, for %d names", live, largeNames)
	}
}

// edited is the policy after another weight for one place.
func (l *large) edited(tb testing.TB, old *steer.Policy) *steer.Policy {
	other := *l
	other.config.Text = bytes.Replace(l.config.Text, []byte("  p0: {"), []byte("  p0: {weight: 50, "), 1)
	policy, problems := steer.Recompile(other.parse(tb), old)
	if err := problems.Err(); err != nil {
		tb.Fatal(err)
	}
	return policy
}

// lap gives the time since start, and starts anew.
func lap(start *time.Time) time.Duration {
	now := time.Now()
	d := now.Sub(*start)
	*start = now
	return d
}

func builtinWorld(tb testing.TB) *geo.Map {
	world, err := geo.Open(geo.Files{})
	if err != nil {
		tb.Fatal(err)
	}
	return world
}

// BenchmarkViewOfManyLocations makes the view of three places on a map of 300,000 locations, as one of cities has.
func BenchmarkViewOfManyLocations(b *testing.B) {
	w := newWorld(b, `
datacenters: {msk: {location: [55.75, 37.62]}, fra: {location: [50.11, 8.68]}, nyc: {location: [40.71, -74.01]}}
services: {www: {steer: [geo], at: {msk: [192.0.2.1], fra: [192.0.2.2], nyc: [192.0.2.3]}}}
`)
	w.geo = manyLocations(300_000)
	b.ReportAllocs()
	for b.Loop() {
		sinkSnapshot = w.snapshot()
	}
}

// manyLocations is a map on which each of so many networks is at a place of its own.
func manyLocations(n int) *geo.Map {
	return geo.NewMap(func(yield func(netip.Prefix, geo.Location) bool) {
		for i := range n {
			a := netip.AddrFrom4([4]byte{byte(11 + i>>16), byte(i >> 8), byte(i), 0})
			l := geo.Location{City: fmt.Sprint(i), Latitude: float64(i%1700)/10 - 85, Longitude: float64(i%3590)/10 - 179, Located: true}
			if !yield(netip.PrefixFrom(a, 24), l) {
				return
			}
		}
	})
}

var sinkSnapshot *steer.Snapshot

// Twice as many places and services must cost twice as much, not four times. What is allocated shows it, whatever
// else the machine does.
func TestCostGrowsAsTheConfigurationDoes(t *testing.T) {
	cost := func(n int) float64 {
		var b strings.Builder
		b.WriteString("checks: {web: {tcp: {port: 80}}}\ndatacenters:\n")
		for i := range n {
			fmt.Fprintf(&b, "  p%d: {location: [%d.5, %d.25], capacity: 10, ramp: 1m}\n", i, i*7%140-70, i*13%350-170)
		}
		b.WriteString("services:\n")
		for i := range n {
			first := i % 10 * (n / 20)
			fmt.Fprintf(&b, "  s%d: {check: web, min_places: 1, at: {p%d: [10.0.%d.%d], p%d: [10.1.%d.%d]}}\n",
				i, first, i>>8, i&255, first+n/2, i>>8, i&255)
		}
		b.WriteString("zones:\n  ok.test:\n    ns: [ns.example.]\n    services:\n")
		for i := range n {
			fmt.Fprintf(&b, "      w%d: s%d\n", i, i)
		}
		text := b.String()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		newWorld(t, text).snapshot()
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if once, twice := cost(500), cost(1000); twice > 2.5*once {
		t.Errorf("500 places and services cost %.0f bytes, 1000 cost %.0f", once, twice)
	}
}
