package admin

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"gslb/bgp"
	"gslb/dns/steer"
)

// Routes is what GET /v1/routes gives: one page of prefixes. In a long table Next is where the next
// page begins, as the parameter from takes it.
type Routes struct {
	Version  uint64   `json:"version"` // of the table
	Table    int      `json:"table"`   // prefixes in all of it
	Prefixes []Prefix `json:"prefixes"`
	Next     string   `json:"next,omitempty"`
}

// Prefix is a network with everybody's routes, the better ones first.
type Prefix struct {
	Prefix  netip.Prefix `json:"prefix"`
	Sites   []string     `json:"sites"`             // that its clients have, in their order: its own, then those of the prefixes around it
	Missing []netip.Addr `json:"missing,omitempty"` // peers of its partners that announce others of the family and not this one
	Routes  []Route      `json:"routes"`
}

// Route is one announcement of a prefix, or a network of the configuration.
type Route struct {
	Partner     string      `json:"partner"`
	Site        string      `json:"site"`
	Peer        string      `json:"peer"` // "static": from the configuration
	PathID      uint32      `json:"path_id,omitempty"`
	Verdict     Verdict     `json:"verdict"`
	Because     string      `json:"because,omitempty"` // of a spare one: what decided against it
	Refused     bgp.Refusal `json:"refused,omitempty"` // why, of a refused one
	Origin      uint32      `json:"origin,omitempty"`
	Neighbour   uint32      `json:"neighbour,omitempty"`
	Preference  uint32      `json:"preference"`
	PathLength  uint32      `json:"path_length"`
	MED         uint32      `json:"med"`
	Communities string      `json:"communities,omitempty"`
	Since       time.Time   `json:"since,omitzero"`
	Stale       time.Time   `json:"stale,omitzero"` // since when no session is there to confirm it
}

// Verdict is what becomes of a route among those of its prefix.
type Verdict string

const (
	// RouteWins leads clients to its site, for as long as that serves. Several routes of a prefix may.
	RouteWins Verdict = "wins"
	// RouteSpare comes behind the winners.
	RouteSpare Verdict = "spare"
	// RouteShadow is a shadow partner's: nobody is steered by it.
	RouteShadow Verdict = "shadow"
	// RouteRefused is not believed.
	RouteRefused Verdict = "refused"
)

// Bounds of how many prefixes are given at once.
const (
	defaultPrefixes = 100
	maxPrefixes     = 10000
)

// selection is what of a table is asked for.
type selection struct {
	within  netip.Prefix // with what lies around it; the zero Prefix: everything
	from    netip.Prefix // where a page begins
	partner string       // "": anybody
	refused bool         // only routes that are refused
	limit   int
}

func parseSelection(r *http.Request) (s selection, err error) {
	s.partner = r.FormValue("partner")
	if s.limit, err = parseLimit(r.FormValue("limit"), defaultPrefixes, maxPrefixes); err != nil {
		return s, err
	}
	if text := r.FormValue("prefix"); text != "" {
		if s.within, err = ParseNetwork(text); err != nil {
			return s, err
		}
	}
	if text := r.FormValue("address"); text != "" {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return s, fmt.Errorf("address %q: not an address such as 203.0.113.7", text)
		}
		s.within = netip.PrefixFrom(a, a.BitLen())
	}
	if text := r.FormValue("from"); text != "" {
		if s.from, err = ParseNetwork(text); err != nil {
			return s, err
		}
	}
	if text := r.FormValue("refused"); text != "" {
		if s.refused, err = strconv.ParseBool(text); err != nil {
			return s, fmt.Errorf("refused %q: neither 1 nor 0", text)
		}
	}
	return s, nil
}

// ParseNetwork reads a network without bits behind its length, or an address, as one.
func ParseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("prefix %q: not a network such as 203.0.113.0/24", text)
	}
	if p != p.Masked() {
		return p, fmt.Errorf("prefix %q: has bits behind its length; the network is %s", text, p.Masked())
	}
	return p, nil
}

func (h *handler) routes(w http.ResponseWriter, r *http.Request) {
	s, err := parseSelection(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	table, policy := h.Routes(), h.Snapshot().Policy()
	if unknown := unknownPartner(policy, s.partner); s.partner != "" && unknown != "" {
		refuse(w, http.StatusNotFound, "%s", unknown)
		return
	}
	write(w, http.StatusOK, newListing(table, h.accounts(table), policy).page(s))
}

// listing writes a table out.
type listing struct {
	table  *bgp.Table
	policy *steer.Policy
	peers  map[string][]bgp.Account // of each partner, its peers that are believed anything
}

func newListing(table *bgp.Table, accounts []bgp.Account, policy *steer.Policy) listing {
	l := listing{table, policy, map[string][]bgp.Account{}}
	for _, a := range accounts {
		if a.Peer.IsValid() && a.Tally.Believed() > 0 {
			l.peers[a.Partner] = append(l.peers[a.Partner], a)
		}
	}
	return l
}

// page gives the prefixes that are asked for, from one on, up to the limit.
func (l listing) page(s selection) Routes {
	page := Routes{Version: l.table.Version(), Table: l.table.Len(), Prefixes: []Prefix{}}
	if s.within.IsValid() && !s.from.IsValid() {
		for bits := range s.within.Bits() {
			around := netip.PrefixFrom(s.within.Addr(), bits).Masked()
			if routes := s.choose(l.table.At(around)); routes != nil {
				page.Prefixes = append(page.Prefixes, l.prefix(around, routes))
			}
		}
		s.from = s.within
	}
	for p, routes := range l.table.From(s.from) {
		if s.within.IsValid() && !s.within.Overlaps(p) {
			break
		}
		if routes = s.choose(routes); routes == nil {
			continue
		}
		if len(page.Prefixes) >= s.limit {
			page.Next = p.String()
			break
		}
		page.Prefixes = append(page.Prefixes, l.prefix(p, routes))
	}
	return page
}

// choose gives the routes of a prefix that are to be shown; none when the prefix is not asked for.
// Unless networks are named, a prefix that nobody is believed of shows only among the refused.
func (s selection) choose(routes []bgp.Route) []bgp.Route {
	if s.refused {
		routes = slices.DeleteFunc(routes, func(r bgp.Route) bool {
			return r.Refused == bgp.Believed || s.partner != "" && r.Partner != s.partner
		})
	}
	asked := func(r bgp.Route) bool {
		return (s.partner == "" || r.Partner == s.partner) && (s.refused || s.within.IsValid() || r.Refused == bgp.Believed)
	}
	if !slices.ContainsFunc(routes, asked) {
		return nil
	}
	return routes
}

// prefix judges the routes of one prefix.
func (l listing) prefix(p netip.Prefix, routes []bgp.Route) Prefix {
	out := Prefix{Prefix: p, Sites: l.sites(p), Missing: l.missing(p, routes)}
	refused := func(r bgp.Route) bool { return r.Refused != bgp.Believed }
	var best *bgp.Route
	won := -1 // the tier that wins
	for i, tier := range bgp.Tiers(slices.DeleteFunc(slices.Clone(routes), refused)) {
		for _, r := range tier {
			v := l.route(r)
			switch {
			case steered(l.policy, r.Partner) == "":
				v.Verdict = RouteShadow
			case won < 0 || won == i:
				won, v.Verdict = i, RouteWins
				if best == nil {
					best = &r
				}
			default:
				v.Verdict, v.Because = RouteSpare, because(*best, r)
			}
			out.Routes = append(out.Routes, v)
		}
	}
	for _, r := range routes {
		if refused(r) {
			v := l.route(r)
			v.Verdict, v.Refused = RouteRefused, r.Refused
			out.Routes = append(out.Routes, v)
		}
	}
	return out
}

// because tells what decided between two routes.
func because(best, r bgp.Route) string {
	switch {
	case best.Stale.IsZero() && !r.Stale.IsZero():
		return "its session is gone"
	case best.Preference != r.Preference:
		return fmt.Sprintf("preference %d after %d", r.Preference, best.Preference)
	case best.Path.Length != r.Path.Length:
		return fmt.Sprintf("path length %d after %d", r.Path.Length, best.Path.Length)
	}
	return fmt.Sprintf("MED %d", r.Path.MED)
}

func (l listing) route(r bgp.Route) Route {
	v := Route{
		Partner: r.Partner, Peer: "static", PathID: r.PathID, Origin: r.Path.Origin, Neighbour: r.Path.Neighbour,
		Preference: r.Preference, PathLength: r.Path.Length, MED: r.Path.MED, Communities: r.Path.Communities,
		Since: r.Since, Stale: r.Stale,
	}
	v.Site, _ = l.policy.Leads(r.Partner)
	if !r.Static() {
		v.Peer = r.Peer.String()
	}
	return v
}

// sites gives the sites that the clients of a prefix have, those that come first first.
func (l listing) sites(p netip.Prefix) []string {
	sites := []string{}
	for around, routes := range l.table.Covering(p.Addr()) {
		if around.Bits() > p.Bits() {
			continue
		}
		for _, tier := range bgp.Tiers(routes) {
			for _, r := range tier {
				if site := steered(l.policy, r.Partner); site != "" && !slices.Contains(sites, site) {
					sites = append(sites, site)
				}
			}
		}
	}
	return sites
}

// missing gives the peers that do not announce a prefix which another peer of their partner announces.
func (l listing) missing(p netip.Prefix, routes []bgp.Route) []netip.Addr {
	announced := map[string][]netip.Addr{} // by partner, the peers
	for _, r := range routes {
		if r.Refused == bgp.Believed && !r.Static() {
			announced[r.Partner] = append(announced[r.Partner], r.Peer)
		}
	}
	var missing []netip.Addr
	for partner, by := range announced {
		for _, a := range l.peers[partner] {
			speaks := a.IPv4 > 0 && p.Addr().Is4() || a.IPv6 > 0 && p.Addr().Is6()
			if speaks && !slices.Contains(by, a.Peer) {
				missing = append(missing, a.Peer)
			}
		}
	}
	slices.SortFunc(missing, netip.Addr.Compare)
	return missing
}
