package steer_test

import (
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/zone"
	"gslb/geo"
	"gslb/health"
)

// noon is when every test of this package takes place.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// failer is what tests, benchmarks and properties have in common.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// world is a configuration with everything that answers depend on.
type world struct {
	t      failer
	policy *steer.Policy
	board  *health.Board
	routes *bgp.Table
	geo    *geo.Map
	now    time.Time

	tenures *steer.Tenures
	lenses  bool // geography is seen through lenses
}

// newWorld compiles a config; every endpoint is up and has a clean window.
func newWorld(t failer, text string) *world {
	t.Helper()
	return worldOf(t, compile(t, text))
}

func worldOf(t failer, policy *steer.Policy) *world {
	w := &world{t: t, policy: policy, board: health.NewBoard(), geo: earth(), now: noon}
	w.routes = bgp.NewTable(1, w.policy.Routes())
	w.board.Apply(w.policy.Targets(), w.now)
	for _, target := range w.policy.Targets() {
		w.record(target, strings.Repeat("+", target.Check.Window))
	}
	return w
}

func compile(t failer, text string) *steer.Policy {
	t.Helper()
	return compileWith(t, text, nil)
}

// compileWith compiles a config that names files, which are given by their paths.
func compileWith(t failer, text string, files map[string]string) *steer.Policy {
	t.Helper()
	file := func(path string) (string, error) { return files[path], nil }
	cfg, problems := config.ParseWith(file, config.Source{File: "/gslb.yaml", Text: []byte(text)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return policy
}

// earth is a world of four countries, with some space that is nowhere.
func earth() *geo.Map {
	return geo.NewMap(inOrder(map[string]geo.Location{
		"198.18.0.0/16":   {Continent: "EU", Country: "DE", Latitude: 51, Longitude: 9, Located: true},
		"198.19.0.0/17":   {Continent: "EU", Country: "RU", Region: "MOW", City: "Moscow", Latitude: 55.7, Longitude: 37.6, Located: true},
		"198.19.128.0/17": {Continent: "EU", Country: "RU", Region: "NVS", ASN: 31133, Latitude: 55, Longitude: 83, Located: true},
		"192.88.99.0/24":  {Continent: "NA", Country: "US", Latitude: 38, Longitude: -97, Located: true},
		"192.88.98.0/24":  {Continent: "OC", Country: "FJ"}, // known, but not located
		"2001:db8::/33":   {Continent: "EU", Country: "DE", Latitude: 51, Longitude: 9, Located: true},
	}))
}

func inOrder(networks map[string]geo.Location) iter.Seq2[netip.Prefix, geo.Location] {
	return func(yield func(netip.Prefix, geo.Location) bool) {
		for _, p := range slices.Sorted(maps.Keys(networks)) {
			if !yield(netip.MustParsePrefix(p), networks[p]) {
				return
			}
		}
	}
}

// check gives the results of an endpoint: "+" for a success, "-" for a failure.
func (w *world) check(address, results string) {
	w.t.Helper()
	found := false
	for _, target := range w.policy.Targets() {
		if target.Address.String() == address {
			w.record(target, results)
			found = true
		}
	}
	if !found {
		w.t.Fatalf("no check probes %s", address)
	}
}

func (w *world) record(target health.Target, results string) {
	for _, r := range results {
		if r == '+' {
			w.board.Record(target.Key(), health.Result{OK: true}, w.now)
		} else {
			w.board.Record(target.Key(), health.Result{Cause: "status 503"}, w.now)
		}
	}
}

func (w *world) snapshot() *steer.Snapshot { return w.after(nil) }

// after builds on a previous snapshot.
func (w *world) after(prev *steer.Snapshot) *steer.Snapshot {
	s := steer.Build(w.inputs(), prev)
	if w.lenses {
		return s.ThroughLenses()
	}
	return s
}

// inputs are what a snapshot is made of.
func (w *world) inputs() steer.Inputs {
	return steer.Inputs{
		Policy: w.policy, Config: 7, Health: w.board.Latest(), Routes: w.routes, Geo: w.geo, Now: w.now, Tenures: w.tenures,
	}
}

// ask gives the decision and the addresses for a service and a client, by the client's own address.
func (w *world) ask(service, client string, family steer.Family, seed uint64) (steer.Decision, string) {
	w.t.Helper()
	s := w.snapshot()
	return decide(w.t, s, service, client, family, seed)
}

func decide(t failer, s *steer.Snapshot, service, client string, family steer.Family, seed uint64) (steer.Decision, string) {
	t.Helper()
	for i, svc := range s.Policy().Services() {
		if svc.Name() != service {
			continue
		}
		c := s.Client(netip.MustParseAddr(client), steer.Subnet{})
		d := steer.Decide(s, steer.Query{Service: i, Client: c, Family: family, Seed: seed})
		addresses := d.Addresses(s, i, nil)
		slices.SortFunc(addresses, netip.Addr.Compare)
		words := make([]string, len(addresses))
		for j, a := range addresses {
			words[j] = a.String()
		}
		return d, strings.Join(words, " ")
	}
	t.Fatalf("no service %s", service)
	return steer.Decision{}, ""
}

// explain gives the lines of reasons for a name, without the version.
func (w *world) explain(name, source, ecs string) string {
	w.t.Helper()
	s := w.snapshot()
	n, err := zone.ParseName(name)
	if err != nil {
		w.t.Fatal(err)
	}
	var subnet steer.Subnet
	if ecs != "" {
		subnet.Prefix = netip.MustParsePrefix(ecs)
	}
	lines, _, ours := steer.Explain(s, steer.Question{
		Name: n, Client: s.Client(netip.MustParseAddr(source), subnet), Now: w.now, Seed: 1,
	})
	if !ours {
		return "not ours\n"
	}
	var b strings.Builder
	for _, l := range lines[:len(lines)-1] {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func mustAddr(s string) netip.Addr { return netip.MustParseAddr(s) }
