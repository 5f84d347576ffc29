package steer_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"pgregory.net/rapid"

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
	inFile   bool // the networks stand in a file of their own
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
			r.networks, r.inFile = tw.drawNetworks(t, 1), rapid.Bool().Draw(t, "inFile")
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
	for i, r := range tw.rules {
		to := "nearest"
		if !r.nearest {
			to = strings.ReplaceAll(fmt.Sprint(r.to), " ", ", ")
		}
		fmt.Fprintf(&b, "    - {to: %s", to)
		if r.country != "" {
			fmt.Fprintf(&b, ", country: %s", r.country)
		}
		switch {
		case r.inFile:
			fmt.Fprintf(&b, ", networks_file: /rule%d.txt", i)
		case r.networks != nil:
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

// files are the texts of the files that the yaml names, by path.
func (tw *twin) files() map[string]string {
	files := map[string]string{}
	for i, r := range tw.rules {
		if r.inFile {
			files[fmt.Sprintf("/rule%d.txt", i)] = strings.ReplaceAll(list(r.networks), ", ", "\n")
		}
	}
	return files
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

// twinWorld is the world of a twin, half the time seen through lenses.
func twinWorld(t *rapid.T, tw *twin) *world {
	w := worldOf(t, compileWith(t, tw.yaml(), tw.files()))
	w.geo, w.lenses = geo.NewMap(inOrder(tw.geo)), rapid.Bool().Draw(t, "lenses")
	return w
}
