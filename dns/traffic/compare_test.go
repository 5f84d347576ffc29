package traffic_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gslb/dns/steer"
	"gslb/dns/traffic"
	"gslb/geo"
)

// crowds reads clients as "ADDRESS COUNT" words.
func crowds(t failer, text string) []traffic.Crowd {
	t.Helper()
	var all []traffic.Crowd
	words := strings.Fields(text)
	for i := 0; i < len(words); i += 2 {
		var weight float64
		if _, err := fmt.Sscan(words[i+1], &weight); err != nil {
			t.Fatal(err)
		}
		all = append(all, traffic.Crowd{Address: mustAddr(words[i]), Weight: weight})
	}
	return all
}

// told writes a comparison down, line by line.
func told(c *traffic.Comparison) string {
	var b strings.Builder
	typeOf := map[steer.Family]string{steer.IPv4: "A", steer.IPv6: "AAAA"}
	for _, m := range c.Moves {
		fmt.Fprintf(&b, "%s %s: %.4g from %s to %s", m.Service, typeOf[m.Family], m.Weight, m.From, m.To)
		if m.Partner != "" {
			fmt.Fprintf(&b, " partner %s", m.Partner)
		}
		if m.Country != "" {
			fmt.Fprintf(&b, " in %s", m.Country)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// someClients are 100 in Germany, 60 in Moscow, 30 in the networks of sibtel, 10 nowhere.
const someClients = "198.18.0.1 100  198.19.0.1 60  198.19.128.1 30  11.0.0.1 10"

const plain = `
datacenters: {a: {}, b: {}, c: {}}
sites: {s: {partners_only: true}}
partners: {sibtel: {site: s, networks: [198.19.128.0/17]}}
maps:
  world: [{country: DE, to: [a, b]}, {country: RU, to: [b, a]}]
services:
  video: {map: world, at: {a: [192.0.2.1], b: [192.0.2.2], s: [192.0.2.3]}}
`

func TestCompare(t *testing.T) {
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(plain) }
	for _, tc := range []struct {
		name, before, after, want string
	}{
		{"nothing", plain, plain, ""},
		{"other order of places", plain, swap("a: {}, b: {}, c: {}", "c: {}, b: {}, a: {}"), ""},
		{"a drain", plain, plain + "drains: [{target: a}]", "video A: 100 from a to b in DE\nvideo A: 5 from a to b\n"},
		{"a rule", plain, swap("country: RU", "country: RU, region: NVS"), "video A: 30 from b to a in RU\n"},
		{"a partner less", plain, swap("networks: [198.19.128.0/17]", "networks: [198.19.128.0/17], shadow: true"), "video A: 30 from s to b partner sibtel in RU\n"},
		{"other addresses", plain, swap("192.0.2.1", "192.0.2.9"), "video A: 100 from a to a in DE\nvideo A: 5 from a to a\n"},
		{"one more address", plain, swap("[192.0.2.1]", "[192.0.2.1, 192.0.2.9]"), "video A: 50 from a to a in DE\nvideo A: 2.5 from a to a\n"},
		{"the other family too", plain, swap("[192.0.2.1]", `[192.0.2.1, "2001:db8::1"]`), strings.Join([]string{
			"video AAAA: 100 from no answer to a in DE", "video AAAA: 10 from no answer to a", ""}, "\n")},
		{"a new service", plain, plain + "  www: {steer: [datacenters], at: {c: [192.0.2.4]}}", strings.Join([]string{
			"www A: 100 from no service to c in DE", "www A: 60 from no service to c in RU",
			"www A: 30 from no service to c partner sibtel in RU", "www A: 10 from no service to c", ""}, "\n")},
		{"a service less", plain + "  www: {steer: [datacenters], at: {c: [192.0.2.4]}}", plain, strings.Join([]string{
			"www A: 100 from c to no service in DE", "www A: 60 from c to no service in RU",
			"www A: 30 from c to no service partner sibtel in RU", "www A: 10 from c to no service", ""}, "\n")},
		{"all down", plain, swap("map: world", "map: world, all_down: nodata") + "drains: [{target: a, hard: true}, {target: b, hard: true}]", strings.Join([]string{
			"video A: 100 from a to all_down rule in DE", "video A: 60 from b to all_down rule in RU", "video A: 5 from a to all_down rule", "video A: 5 from b to all_down rule", ""}, "\n")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := traffic.Compare(sunny(t, tc.before), sunny(t, tc.after), crowds(t, someClients))
			if diff := cmp.Diff(strings.Split(tc.want, "\n"), strings.Split(told(c), "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A place gives addresses or a host, and so does nobody but the all_down rule: to be given something else is to move.
func TestCompareKnowsWhatIsGiven(t *testing.T) {
	given := func(at, allDown string) string {
		return "datacenters: {a: {}}\nservices: {www: {steer: [datacenters], at: {a: " + at + "}" + allDown + "}}\n"
	}
	const drained = "drains: [{target: a, hard: true}]"
	one, moved := given("[192.0.2.1]", ""), "www A: 40 from a to a\n"
	for _, tc := range []struct{ name, before, after, want string }{
		{"another alias", given("{cname: x.example., probe: 192.0.2.1}", ""), given("{cname: y.example., probe: 192.0.2.1}", ""), moved},
		{"another probe of an alias", given("{cname: x.example., probe: 192.0.2.1}", ""), given("{cname: x.example., probe: 192.0.2.2}", ""), ""},
		{"another port", given("{srv: {target: x.example., port: 443}, probe: 192.0.2.1}", ""), given("{srv: {target: x.example., port: 444}, probe: 192.0.2.1}", ""), moved},
		{"an alias for an address", one, given("{cname: x.example., probe: 192.0.2.1}", ""), moved},
		{"an endpoint down by hand", given("[192.0.2.1, 192.0.2.2]", ""), given("[192.0.2.1, {address: 192.0.2.2, state: down}]", ""), "www A: 20 from a to a\n"},
		{"other last addresses", given("[192.0.2.1]", ", all_down: [192.0.2.8, 192.0.2.9]") + drained, given("[192.0.2.1]", ", all_down: [192.0.2.9]") + drained,
			"www A: 20 from all_down rule to all_down rule\n"},
		{"a failure for none", given("[192.0.2.1]", ", all_down: nodata") + drained, given("[192.0.2.1]", ", all_down: servfail") + drained,
			"www A: 40 from all_down rule to all_down rule\n"},
		{"another rule that is not in force", one, given("[192.0.2.1]", ", all_down: [192.0.2.9]"), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := traffic.Compare(sunny(t, tc.before), sunny(t, tc.after), crowds(t, "11.0.0.1 40"))
			if diff := cmp.Diff(strings.Split(tc.want, "\n"), strings.Split(told(c), "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Weights move shares, not draws.
func TestCompareExpectsShares(t *testing.T) {
	const one = `
datacenters: {a: {}, b: {}, c: {}}
services:
  www: {steer: [datacenters], at: {a: {addresses: [192.0.2.1], weight: 10}, b: {addresses: [192.0.2.2], weight: 10}, c: {addresses: [192.0.2.3], weight: 20}}}
`
	for _, tc := range []struct{ name, old, new, want string }{
		{"a weight", "weight: 20", "weight: 80", "www A: 6 from a to c\nwww A: 6 from b to c\n"},
		{"a weight of nothing", "weight: 20", "weight: 0", "www A: 10 from c to a\nwww A: 10 from c to b\n"},
		{"all of them", "steer: [datacenters]", "steer: [datacenters], answer: all", "www A: 3.333 from c to a\nwww A: 3.333 from c to b\n"},
		{"two of them", "steer: [datacenters]", "steer: [datacenters], answer: 2", "www A: 1.667 from c to a\nwww A: 1.667 from c to b\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := traffic.Compare(sunny(t, one), sunny(t, strings.Replace(one, tc.old, tc.new, 1)), crowds(t, "11.0.0.1 40"))
			if diff := cmp.Diff(strings.Split(tc.want, "\n"), strings.Split(told(c), "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// clientsOf draws clients inside and around what differs in a twin.
func clientsOf(t *rapid.T) []traffic.Crowd {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) traffic.Crowd {
		a := netip.AddrFrom4([4]byte{198, 18, rapid.ByteRange(0, 1).Draw(t, "third"), rapid.Byte().Draw(t, "fourth")})
		return traffic.Crowd{Address: a, Weight: float64(rapid.IntRange(0, 1000).Draw(t, "weight"))}
	}), 1, 50).Draw(t, "clients")
}

func TestComparingWithItselfFindsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		if c := traffic.Compare(s, s, clientsOf(t)); len(c.Moves) > 0 {
			t.Fatalf("of a configuration and itself:\n%s", told(c))
		}
	})
}

// Everything is counted once: what a place has before, less what goes, with what comes, is what it has after;
// and all loads of a question are the weight of all clients.
func TestComparedWeightsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := clientsOf(t)
		var weight float64
		for _, c := range clients {
			weight += c.Weight
		}
		c := traffic.Compare(drawn(t), drawn(t), clients)
		if c.Weight != weight {
			t.Fatalf("weight %g, want %g", c.Weight, weight)
		}
		type thing struct{ service, place string }
		balance, sums := map[thing]float64{}, map[string][2]float64{}
		for _, l := range c.Loads {
			balance[thing{l.Service, l.Place}] += l.After - l.Before
			s := sums[l.Service]
			sums[l.Service] = [2]float64{s[0] + l.Before, s[1] + l.After}
		}
		for _, m := range c.Moves {
			balance[thing{m.Service, m.From}] += m.Weight
			balance[thing{m.Service, m.To}] -= m.Weight
		}
		for what, rest := range balance {
			if math.Abs(rest) > 1e-6 {
				t.Errorf("%v is off by %g", what, rest)
			}
		}
		for _, q := range c.Asked {
			if s := sums[q.Service]; math.Abs(s[0]-weight) > 1e-6 || math.Abs(s[1]-weight) > 1e-6 {
				t.Errorf("%s has %v, want %g", q.Service, s, weight)
			}
		}
	})
}

// An obvious twin: it asks for each client by itself what it gets.
func TestCompareCountsWhoeverGetsAnotherPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := drawn(t), drawn(t)
		countedOneByOne(t, one, two, clientsOf(t))
	})
}

func countedOneByOne(t *rapid.T, one, two *steer.Snapshot, clients []traffic.Crowd) {
	want, got := map[string]float64{}, map[string]float64{}
	for i, svc := range two.Policy().Services() {
		for _, c := range clients {
			was, is := sharesOf(one, i, c.Address), sharesOf(two, i, c.Address)
			for place := range maps.Keys(was) {
				want[svc.Name()] += c.Weight * max(0, was[place]-is[place])
			}
		}
	}
	for _, m := range traffic.Compare(one, two, clients).Moves {
		if m.From != m.To {
			got[m.Service] += m.Weight
		}
	}
	for service, w := range want {
		if math.Abs(got[service]-w) > 1e-6 {
			t.Errorf("%s: %g moves, want %g", service, got[service], w)
		}
	}
}

// sharesOf gives what a client can expect, with "" for no answer.
func sharesOf(s *steer.Snapshot, service int, client netip.Addr) map[string]float64 {
	e := s.Outlook(service, steer.IPv4).Of(client)
	shares := map[string]float64{}
	for _, share := range e.Shares {
		shares[s.Policy().Service(service).Places()[share.Member]] += share.Part
	}
	if len(shares) == 0 {
		shares[e.Placed.String()] = 1
	}
	return shares
}

// What a configuration would move does not depend on ramps: none runs while everything is up.
func TestRampsMoveNobodyInAComparison(t *testing.T) {
	compare := func(change ...string) *traffic.Comparison {
		text := strings.NewReplacer(change...).Replace(cdn)
		drained := strings.Replace(text, "drains: []", "drains: [{target: msk-1}]", 1)
		return traffic.Compare(sunny(t, text), sunny(t, drained), everywhere())
	}
	without, with := compare(), compare("msk-1: {loc", "msk-1: {ramp: 10m, loc", "msk-2: {loc", "msk-2: {ramp: 10m, loc")
	if diff := cmp.Diff(without, with); diff != "" || len(with.Moves) == 0 {
		t.Errorf("moves without ramps (-) and with them (+):\n%s", diff)
	}
}

// BenchmarkCompare compares ten services for a million random clients, of which some move.
func BenchmarkCompare(b *testing.B) {
	world, err := geo.Open(geo.Files{})
	if err != nil {
		b.Fatal(err)
	}
	snapshot := func(text string) *steer.Snapshot { return sunnyOn(b, tenServices(text), world) }
	before, after := snapshot(cdn), snapshot(strings.Replace(cdn, "drains: []", "drains: [{target: msk-1}]", 1))
	luck := rand.New(rand.NewPCG(1, 2))
	clients := make([]traffic.Crowd, 1_000_000)
	for i := range clients {
		n := luck.Uint32()
		clients[i] = traffic.Crowd{Address: netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), Weight: 1}
	}
	var c *traffic.Comparison
	for b.Loop() {
		c = traffic.Compare(before, after, clients)
	}
	b.ReportMetric(100*c.Moved()/c.Answers(), "%-moved")
	b.ReportMetric(float64(len(c.Asked)), "questions")
}

// tenServices multiplies the two services of the world of most tests.
func tenServices(text string) string {
	head, rest, _ := strings.Cut(text, "services:\n")
	both, tail, _ := strings.Cut(rest, "zones:\n")
	var b strings.Builder
	b.WriteString(head + "services:\n" + both)
	for i := range 4 {
		b.WriteString(strings.NewReplacer("video:", fmt.Sprintf("video%d:", i), "portal:", fmt.Sprintf("portal%d:", i)).Replace(both))
	}
	return b.String() + "zones:\n" + tail
}
