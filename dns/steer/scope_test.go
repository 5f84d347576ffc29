package steer_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gslb/dns/steer"
	"gslb/geo"
)

// twin is a small random world, and a slow and obvious reading of which tiers its clients get.
// Everything that differs in it lies in 198.18.0.0/24, or in 2001:db8::/120, so that all addresses can be looked at.
type twin struct {
	six      bool
	places   []twinPlace
	partners []twinPartner
	rules    []twinRule
	services []twinService
	geo      map[string]geo.Location
}

type twinPlace struct {
	name         string
	datacenter   bool
	partnersOnly bool
	km           int // of longitude on the equator; -1: not located
}

type twinPartner struct {
	site     string
	networks []netip.Prefix
}

type twinRule struct {
	country  string
	networks []netip.Prefix
	nearest  bool
	to       [][]string
}

type twinService struct {
	at     []string
	steer  []string
	mapped bool
}

func drawTwin(t *rapid.T) *twin {
	tw := &twin{six: rapid.Bool().Draw(t, "six"), geo: map[string]geo.Location{}}
	for i := range rapid.IntRange(2, 5).Draw(t, "places") {
		p := twinPlace{name: fmt.Sprintf("p%d", i), datacenter: rapid.Bool().Draw(t, "datacenter"), km: rapid.IntRange(-1, 5).Draw(t, "km")}
		p.partnersOnly = !p.datacenter && rapid.Bool().Draw(t, "partnersOnly")
		tw.places = append(tw.places, p)
	}
	slices.SortStableFunc(tw.places, func(a, b twinPlace) int { return cmp.Compare(kind(a), kind(b)) })
	var sites, names []string
	for _, p := range tw.places {
		names = append(names, p.name)
		if !p.datacenter {
			sites = append(sites, p.name)
		}
	}
	if len(sites) > 0 {
		for range rapid.IntRange(0, 3).Draw(t, "partners") {
			tw.partners = append(tw.partners, twinPartner{rapid.SampledFrom(sites).Draw(t, "site"), tw.drawNetworks(t, 1)})
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "rules") {
		r := twinRule{country: rapid.SampledFrom([]string{"", "AA", "BB"}).Draw(t, "country"), nearest: rapid.Bool().Draw(t, "nearest")}
		if rapid.Bool().Draw(t, "byNetworks") {
			r.networks = tw.drawNetworks(t, 1)
		}
		if !r.nearest {
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID).Draw(t, "to") {
				r.to = append(r.to, []string{name})
			}
		}
		tw.rules = append(tw.rules, r)
	}
	for range 2 {
		tw.services = append(tw.services, twinService{
			at:     rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(t, "at"),
			steer:  rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"partners", "geo", "datacenters"}), 1, 3, rapid.ID).Draw(t, "steer"),
			mapped: len(tw.rules) > 0 && rapid.Bool().Draw(t, "mapped"),
		})
	}
	for _, p := range tw.drawNetworks(t, 0) {
		tw.geo[p.String()] = geo.Location{
			Country: rapid.SampledFrom([]string{"AA", "BB"}).Draw(t, "at"), Located: rapid.Bool().Draw(t, "located"),
			Longitude: float64(rapid.IntRange(0, 3).Draw(t, "east")),
		}
	}
	return tw
}

func kind(p twinPlace) int {
	if p.datacenter {
		return 0
	}
	return 1
}

// address gives one of the 256 addresses of the block in which everything differs.
func (tw *twin) address(octet byte) netip.Addr {
	if tw.six {
		return netip.AddrFrom16([16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8, 15: octet})
	}
	return netip.AddrFrom4([4]byte{198, 18, 0, octet})
}

// outside gives an address to which nothing in the block leads.
func (tw *twin) outside() netip.Addr { return tw.address(255).Next() }

// block is the bits of the block.
func (tw *twin) block() int { return tw.address(0).BitLen() - 8 }

func (tw *twin) drawNetworks(t *rapid.T, least int) []netip.Prefix {
	network := rapid.Custom(func(t *rapid.T) netip.Prefix {
		bits := rapid.IntRange(tw.block(), tw.block()+8).Draw(t, "bits")
		return netip.PrefixFrom(tw.address(rapid.Byte().Draw(t, "octet")), bits).Masked()
	})
	return rapid.SliceOfNDistinct(network, least, 6, rapid.ID).Draw(t, "networks")
}

// yaml writes the twin as an operator would.
func (tw *twin) yaml() string {
	var b strings.Builder
	for _, section := range []struct {
		key        string
		datacenter bool
	}{{"datacenters", true}, {"sites", false}} {
		fmt.Fprintf(&b, "%s:\n", section.key)
		for _, p := range tw.places {
			if p.datacenter != section.datacenter {
				continue
			}
			var keys []string
			if p.km >= 0 {
				keys = append(keys, fmt.Sprintf("location: [0, %d]", p.km))
			}
			if p.partnersOnly {
				keys = append(keys, "partners_only: true")
			}
			fmt.Fprintf(&b, "  %s: {%s}\n", p.name, strings.Join(keys, ", "))
		}
	}
	fmt.Fprintf(&b, "partners:\n")
	for i, p := range tw.partners {
		fmt.Fprintf(&b, "  n%d: {site: %s, networks: [%s]}\n", i, p.site, list(p.networks))
	}
	if len(tw.rules) > 0 {
		fmt.Fprintf(&b, "maps:\n  m:\n")
	}
	for _, r := range tw.rules {
		to := "nearest"
		if !r.nearest {
			to = strings.ReplaceAll(fmt.Sprint(r.to), " ", ", ")
		}
		fmt.Fprintf(&b, "    - {to: %s", to)
		if r.country != "" {
			fmt.Fprintf(&b, ", country: %s", r.country)
		}
		if r.networks != nil {
			fmt.Fprintf(&b, ", networks: [%s]", list(r.networks))
		}
		fmt.Fprintf(&b, "}\n")
	}
	fmt.Fprintf(&b, "services:\n")
	for i, s := range tw.services {
		fmt.Fprintf(&b, "  s%d:\n    check: web\n    steer: [%s]\n", i, strings.Join(s.steer, ", "))
		if s.mapped {
			fmt.Fprintf(&b, "    map: m\n")
		}
		fmt.Fprintf(&b, "    at:\n")
		for _, name := range s.at {
			fmt.Fprintf(&b, "      %s: [192.0.2.%d]\n", name, 1+slices.IndexFunc(tw.places, func(p twinPlace) bool { return p.name == name }))
		}
	}
	b.WriteString("checks: {web: {tcp: {port: 80}}}\nzones: {ok.test: {ns: [ns.example.], services: {s0: s0, s1: s1}}}\n")
	return b.String()
}

func list(networks []netip.Prefix) string {
	words := make([]string, len(networks))
	for i, p := range networks {
		words[i] = p.String()
	}
	return strings.Join(words, ", ")
}

// lists gives the partner list and the map list of a client, as words; "" where a stage is not used.
func (tw *twin) lists(s twinService, a netip.Addr) [2]string {
	var lists [2]string
	if slices.Contains(s.steer, "partners") {
		lists[0] = fmt.Sprint(tw.partnerTiers(a))
	}
	if slices.Contains(s.steer, "geo") {
		lists[1] = fmt.Sprint(tw.geoTiers(s, a))
	}
	return lists
}

func (tw *twin) partnerTiers(a netip.Addr) [][]string {
	var tiers [][]string
	for bits := 128; bits >= 0; bits-- {
		var tier []string
		for _, p := range tw.partners {
			if slices.ContainsFunc(p.networks, func(n netip.Prefix) bool { return n.Bits() == bits && n.Contains(a) }) {
				tier = append(tier, p.site)
			}
		}
		tiers = appendTier(tiers, tier)
	}
	return tiers
}

func (tw *twin) geoTiers(s twinService, a netip.Addr) [][]string {
	at, bits := geo.Location{}, -1
	for p, l := range tw.geo {
		if n := netip.MustParsePrefix(p); n.Contains(a) && n.Bits() > bits {
			at, bits = l, n.Bits()
		}
	}
	rules := tw.rules
	if !s.mapped {
		rules = []twinRule{{nearest: true}}
	}
	for _, r := range rules {
		fits := (r.country == "" || r.country == at.Country) &&
			(r.networks == nil || slices.ContainsFunc(r.networks, func(n netip.Prefix) bool { return n.Contains(a) })) &&
			(!r.nearest || at.Located)
		if !fits {
			continue
		}
		var tiers [][]string
		if r.nearest {
			near := slices.DeleteFunc(slices.Clone(tw.places), func(p twinPlace) bool {
				return p.km < 0 || p.partnersOnly || !slices.Contains(s.at, p.name)
			})
			slices.SortStableFunc(near, func(p, q twinPlace) int {
				here := geo.PointAt(0, at.Longitude)
				return cmp.Compare(here.Apart(geo.PointAt(0, float64(p.km))), here.Apart(geo.PointAt(0, float64(q.km))))
			})
			for _, p := range near {
				tiers = append(tiers, []string{p.name})
			}
			return tiers
		}
		for _, tier := range r.to {
			tiers = appendTier(tiers, slices.DeleteFunc(slices.Clone(tier), func(name string) bool {
				return slices.ContainsFunc(tw.places, func(p twinPlace) bool { return p.name == name && p.partnersOnly })
			}))
		}
		return tiers
	}
	return nil
}

func appendTier(tiers [][]string, tier []string) [][]string {
	var fresh []string
	for _, name := range tier {
		if !slices.ContainsFunc(tiers, func(t []string) bool { return slices.Contains(t, name) }) && !slices.Contains(fresh, name) {
			fresh = append(fresh, name)
		}
	}
	if fresh == nil {
		return tiers
	}
	return append(tiers, fresh)
}

// tiers gives all tiers of a client in the order of the stages, without places that are not in the service.
func (tw *twin) tiers(s twinService, a netip.Addr) string {
	var all [][]string
	for _, stage := range append(slices.Clone(s.steer), "rest") {
		var tiers [][]string
		switch stage {
		case "partners":
			tiers = tw.partnerTiers(a)
		case "geo":
			tiers = tw.geoTiers(s, a)
		default:
			var tier []string
			for _, p := range tw.places {
				if (stage == "datacenters" && p.datacenter) || (stage == "rest" && !p.partnersOnly) {
					tier = append(tier, p.name)
				}
			}
			tiers = [][]string{tier}
		}
		for _, tier := range tiers {
			all = appendTier(all, slices.DeleteFunc(slices.Clone(tier), func(name string) bool { return !slices.Contains(s.at, name) }))
		}
	}
	return fmt.Sprint(all)
}

// explained reads the tiers of a service's members back from reasons.
func explained(w *world, service string, a netip.Addr) string {
	var tiers [][]string
	last := ""
	for line := range strings.Lines(w.explain(service+".ok.test", "192.0.2.9", netip.PrefixFrom(a, a.BitLen()).String())) {
		place, tier, _ := strings.Cut(strings.TrimPrefix(line, "place="), " tier=")
		tier, verdict, isPlace := strings.Cut(tier, " ")
		if !isPlace || strings.Contains(verdict, "absent") {
			continue
		}
		if tier != last {
			tiers, last = append(tiers, nil), tier
		}
		tiers[len(tiers)-1] = append(tiers[len(tiers)-1], place)
	}
	return fmt.Sprint(tiers)
}

func TestScopeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		w := twinWorld(t, tw)
		s := w.snapshot()
		for i, svc := range tw.services {
			lists := map[netip.Addr][2]string{}
			for octet := range 256 {
				a := tw.address(byte(octet))
				lists[a] = tw.lists(svc, a)
			}
			outside := tw.lists(svc, tw.outside())
			for _, a := range slices.SortedFunc(maps.Keys(lists), netip.Addr.Compare) {
				d := steer.Decide(s, steer.Query{Service: i, Client: s.Client(a, steer.Subnet{})})
				checkScope(t, a, d.Span, tw.block(), lists, outside)
			}
		}
	})
}

// checkScope tells when a block is not the widest in which all lists are those of the address.
func checkScope(t *rapid.T, a netip.Addr, span, all int, lists map[netip.Addr][2]string, outside [2]string) {
	same := func(bits int) bool {
		block := netip.PrefixFrom(a, bits).Masked()
		for other, l := range lists {
			if block.Contains(other) && l != lists[a] {
				return false
			}
		}
		return bits >= all || outside == lists[a]
	}
	if !same(span) {
		t.Fatalf("scope /%d of %s holds an address with other lists", span, a)
	}
	if span > 0 && same(span-1) {
		t.Fatalf("scope /%d of %s could be wider", span, a)
	}
}

func TestTiersAreThoseOfTheSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		w := twinWorld(t, tw)
		for i, svc := range tw.services {
			for range 16 {
				a := tw.address(rapid.Byte().Draw(t, "client"))
				got, want := explained(w, fmt.Sprintf("s%d", i), a), tw.tiers(svc, a)
				if got != want {
					t.Fatalf("client %s of s%d: got tiers %s, want %s\n%s", a, i, got, want, tw.yaml())
				}
			}
		}
	})
}

func TestHealthNeverMovesTheScope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		w := twinWorld(t, tw)
		a := tw.address(rapid.Byte().Draw(t, "client"))
		before, _ := decide(w.t, w.snapshot(), "s0", a.String(), steer.IPv4, 1)
		for _, target := range w.policy.Targets() {
			if rapid.Bool().Draw(t, "fails") {
				w.record(target, "----------")
			}
		}
		if after, _ := decide(w.t, w.snapshot(), "s0", a.String(), steer.IPv4, 1); after.Span != before.Span {
			t.Fatalf("scope of %s was /%d, is /%d after failures", a, before.Span, after.Span)
		}
	})
}

// The blocks of a service that resolvers may keep answers for never lie over each other, so that no answer
// hides another: whoever is in a client's block has the same block.
func TestBlocksOfAServiceNeverOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		s := twinWorld(t, tw).snapshot()
		for i := range tw.services {
			blocks := map[netip.Addr]netip.Prefix{}
			for octet := range 256 {
				a := tw.address(byte(octet))
				d := steer.Decide(s, steer.Query{Service: i, Client: s.Client(a, steer.Subnet{})})
				blocks[a] = netip.PrefixFrom(a, d.Span).Masked()
			}
			for a, block := range blocks {
				for other, around := range blocks {
					if block.Contains(other) && around != block {
						t.Fatalf("%s is in %s, the block of %s, and has %s itself", other, block, a, around)
					}
				}
			}
		}
	})
}

// Whether a client asks by itself or a resolver asks for it makes no difference.
func TestSourcesAndSubnetsAreSteeredAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		s := twinWorld(t, tw).snapshot()
		a, seed := tw.address(rapid.Byte().Draw(t, "client")), rapid.Uint64().Draw(t, "seed")
		for i := range tw.services {
			var said [2]string
			for j, client := range []steer.Client{
				s.Client(a, steer.Subnet{}),
				s.Client(mustAddr("192.0.2.9"), steer.Subnet{Prefix: netip.PrefixFrom(a, a.BitLen())}),
			} {
				d := steer.Decide(s, steer.Query{Service: i, Client: client, Seed: seed})
				said[j] = fmt.Sprint(d.Addresses(s, i, nil), d.Placed, d.Span, d.TTL)
			}
			if said[0] != said[1] {
				t.Fatalf("s%d says %s to %s itself, and %s for it", i, said[0], a, said[1])
			}
		}
	})
}

func TestEachServiceHasItsOwnBlocks(t *testing.T) {
	w := newWorld(t, `
datacenters: {a: {}, b: {}}
maps:
  coarse: [{networks: [198.18.0.0/16], to: [b, a]}, {to: [a, b]}]
  fine: [{networks: [198.18.7.0/26], to: [b, a]}, {to: [a, b]}]
services:
  wide: {steer: [geo], map: coarse, at: {a: [192.0.2.1], b: [192.0.2.2]}}
  narrow: {steer: [geo], map: fine, at: {a: [192.0.2.1], b: [192.0.2.2]}}
  none: {steer: [datacenters], at: {a: [192.0.2.1], b: [192.0.2.2]}}
`)
	for service, want := range map[string]int{"wide": 16, "narrow": 26, "none": 0} {
		if d, _ := w.ask(service, "198.18.7.1", steer.IPv4, 1); d.Span != want {
			t.Errorf("scope of %s is %d, want %d", service, d.Span, want)
		}
	}
}

func twinWorld(t *rapid.T, tw *twin) *world {
	w := newWorld(t, tw.yaml())
	w.geo = geo.NewMap(inOrder(tw.geo))
	return w
}
