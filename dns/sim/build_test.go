package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/zone"
	"gslb/geo"
	"gslb/health"
)

// choices is what a made-up configuration says, by the name of the choice.
type choices map[string]string

// change forgets some of the choices, so that they are made anew.
func (c choices) change(t *rapid.T) {
	for range rapid.IntRange(1, 2).Draw(t, "changes") {
		if made := slices.Sorted(maps.Keys(c)); len(made) > 0 {
			delete(c, rapid.SampledFrom(made).Draw(t, "what changes"))
		}
	}
}

// config makes up a configuration, with the choices that were made already: four places, of which
// partners lead to two, and two services.
func (c choices) config(t *rapid.T) string {
	pick := func(label string, of ...string) string {
		if _, made := c[label]; !made {
			c[label] = rapid.SampledFrom(of).Draw(t, label)
		}
		return c[label]
	}
	var b strings.Builder
	b.WriteString("checks: {web: {http: {}, window: 4, fall: 3, rise: 4}}\n")
	fmt.Fprintf(&b, "datacenters:\n  dc1: {location: [%s], weight: %s}\n  dc2: {location: [50, 8], ramp: %s}\n",
		pick("location", "55, 37", "40, -74"), pick("weight", "0", "100", "300"), pick("ramp of dc2", "0s", "5m", "10m"))
	site1 := fmt.Sprintf("  site1: {location: [59, 30], partners_only: %s}\n", pick("partners only", "true", "false"))
	const site2 = "  site2: {location: [54, 82]}\n"
	b.WriteString("sites:\n" + pick("order of sites", site1+site2, site2+site1))
	fmt.Fprintf(&b, "partners:\n  p1: {site: site1, networks: [%s]}\n  p2: {site: site2, networks: [%s], shadow: %s}\n",
		pick("networks of p1", "203.0.113.0/24", "203.0.113.0/24", "203.0.112.0/20", "203.0.113.0/24, 203.0.113.128/25"),
		pick("networks of p2", "203.0.113.0/24", "203.0.113.64/26", "198.51.0.0/16, \"2001:db8::/32\""),
		pick("shadow", "true", "false"))
	fmt.Fprintf(&b, "maps:\n  world:\n    - {country: RU, to: %s}\n    - {networks: [198.51.100.0/25], to: [site2]}\n    - {to: %s}\n",
		pick("to of RU", "[dc1, site2]", "[[dc1, dc2]]", "nearest"), pick("to of others", "nearest", "[dc2, dc1]"))
	b.WriteString("services:\n")
	for _, name := range []string{"a", "b"} {
		of := func(label string) string { return name + ": " + label }
		fmt.Fprintf(&b, "  %s: {check: web, steer: [%s], %s%sanswer: %s, pick: %s, all_down: %s, at: {%s}}\n", name,
			pick(of("steer"), "partners, geo, datacenters", "geo, partners", "datacenters", "geo"), pick(of("map"), "", "map: world, "), pick(of("ramp"), "", "ramp: 7m, "),
			pick(of("answer"), "1", "2", "all"), pick(of("pick"), "weighted", "hash"), pick(of("all_down"), "serve", "nodata", "[192.0.2.9]"),
			pick(of("at"), "dc1: [192.0.2.1], dc2: [192.0.2.2, \"2001:db8::2\"], site1: [192.0.2.3]", "dc1: [192.0.2.1], site1: [192.0.2.3], site2: [192.0.2.4]", "dc2: [\"2001:db8::2\"], site2: [192.0.2.4]"))
	}
	b.WriteString("zones: {ok.test: {ns: [ns.example.], services: {a: a, b: b}}}\n")
	fmt.Fprintf(&b, "drains: [%s]\n", pick("drains", "", "{target: dc1}", "{target: site2, service: a, hard: true}, {target: dc2, until: 2026-12-01T00:05:00Z}"))
	return b.String()
}

// drawGlobe makes up a map of the globe.
func drawGlobe(t *rapid.T) *geo.Map {
	lines := []string{
		"203.0.112.0/20 country=RU at=55,37", "203.0.113.32/27 country=DE at=50,8", "198.51.100.0/24 country=RU",
		"198.51.0.0/16 country=KZ at=51,71", "2001:db8::/32 country=RU at=54,82", "0.0.0.0/1 country=US at=40,-74",
	}
	globe, err := readGlobe(strings.Join(lines[:rapid.IntRange(0, len(lines)).Draw(t, "networks known")], "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return globe
}

// everyAnswer writes down what a snapshot says to many clients, with all reasons.
func everyAnswer(s *steer.Snapshot, now time.Time) []string {
	clients := []string{"203.0.113.7", "203.0.113.33", "203.0.113.65", "203.0.113.129", "203.0.112.7", "203.0.127.7", "203.0.128.7",
		"198.51.100.7", "198.51.100.129", "198.51.101.7", "198.50.7.7", "8.8.8.8", "2001:db8::7", "2001:db9::7"}
	var said []string
	for _, a := range clients {
		client := s.Client(netip.MustParseAddr(a), steer.Subnet{})
		for i, svc := range s.Policy().Services() {
			for _, family := range []steer.Family{steer.IPv4, steer.IPv6} {
				d := steer.Decide(s, steer.Query{Service: i, Client: client, Family: family, Seed: 7, Now: now})
				said = append(said, fmt.Sprintln(a, svc.Name(), family, d.Placed, d.Span, d.TTL, d.Servfail, d.Addresses(s, i, nil)))
			}
			name := zone.Name("\x01" + svc.Name() + "\x02ok\x04test\x00")
			lines, _, _ := steer.Explain(s, steer.Question{Name: name, Client: client, Now: now, Seed: 7})
			for _, l := range lines {
				said = append(said, l.String())
			}
		}
	}
	return said
}

// history is a server to which random things happen.
type history struct {
	choices choices
	inputs  steer.Inputs
	board   *health.Board
}

func (h *history) reconfigure(t *rapid.T) {
	h.choices.change(t)
	cfg, problems := config.Parse(config.Source{File: mainFile, Text: []byte(h.choices.config(t))})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	h.board.Apply(policy.Targets(), h.inputs.Now)
	if routes := policy.Routes(); h.inputs.Routes == nil || !slices.Equal(routes, h.inputs.Policy.Routes()) {
		h.inputs.Routes = bgp.NewTable(h.inputs.Config+1, routes)
	}
	h.inputs.Policy, h.inputs.Config = policy, h.inputs.Config+1
}

// probe brings some results, of one endpoint or of all, which may be enough for the rule.
func (h *history) probe(t *rapid.T) {
	targets := h.inputs.Policy.Targets()
	if !rapid.Bool().Draw(t, "all endpoints") {
		i := rapid.IntRange(0, len(targets)-1).Draw(t, "endpoint")
		targets = targets[i : i+1]
	}
	result := health.Result{OK: rapid.Bool().Draw(t, "ok"), Cause: "status 503"}
	for range rapid.IntRange(1, 4).Draw(t, "results") {
		for _, target := range targets {
			h.board.Record(target.Key(), result, h.inputs.Now)
		}
	}
}

// returns makes up which places came back, and when.
func (h *history) returns(t *rapid.T) {
	tenures := map[string]steer.Tenure{}
	for _, name := range []string{"a dc1", "a dc2", "a site1", "b dc1", "b dc2", "b site2"} {
		if ago := rapid.IntRange(-1, 12).Draw(t, "minutes since "+name); ago >= 0 {
			tenures[name] = steer.Tenure{Out: rapid.Bool().Draw(t, name+" is out"), Since: h.inputs.Now.Add(-time.Duration(ago) * time.Minute)}
		}
	}
	h.inputs.Tenures = steer.NewTenures(tenures)
}

func TestBuildWithAPastIsBuildWithoutOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := history{choices: choices{}, board: health.NewBoard(), inputs: steer.Inputs{Now: beginning, Geo: drawGlobe(t)}}
		h.reconfigure(t)
		var prev *steer.Snapshot
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"config", "config", "config", "probe", "probe", "geo", "time", "returns", "nothing"}), 1, 12).Draw(t, "what happens")
		for _, what := range steps {
			switch what {
			case "config":
				h.reconfigure(t)
			case "probe":
				h.probe(t)
			case "geo":
				h.inputs.Geo = drawGlobe(t)
			case "returns":
				h.returns(t)
			case "time":
				h.inputs.Now = h.inputs.Now.Add(2 * time.Minute)
			}
			h.inputs.Health = h.board.Latest()
			next := steer.Build(h.inputs, prev)
			got, want := everyAnswer(next, h.inputs.Now), everyAnswer(steer.Build(h.inputs, nil), h.inputs.Now)
			if !slices.Equal(got, want) {
				t.Fatalf("after %q (-without a past +with one):\n%s", what, cmp.Diff(want, got))
			}
			prev = next
		}
	})
}

func TestHealthNeverChangesTheScope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := history{choices: choices{}, board: health.NewBoard(), inputs: steer.Inputs{Now: beginning, Geo: drawGlobe(t)}}
		h.reconfigure(t)
		h.inputs.Health = h.board.Latest()
		sound := steer.Build(h.inputs, nil)
		for range 4 {
			h.probe(t)
		}
		h.inputs.Health = h.board.Latest()
		h.returns(t)
		worse := steer.Build(h.inputs, sound)
		luck := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "luck")))
		for range 200 {
			client := sound.Client(draw(netip.MustParsePrefix("192.0.0.0/4"), luck), steer.Subnet{})
			for i := range sound.Policy().Services() {
				q := steer.Query{Service: i, Client: client, Family: steer.IPv4}
				if was, is := steer.Decide(sound, q).Span, steer.Decide(worse, q).Span; was != is {
					t.Fatalf("scope of %s was %d, and is %d with other verdicts", client.Address, was, is)
				}
			}
		}
	})
}
