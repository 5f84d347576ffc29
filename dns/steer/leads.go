package steer

import "gslb/bgp"

// Leads tells where a partner's clients are sent: to which site, and whether the partner is a
// shadow, by whose networks nobody is steered. Of an unknown partner the site is "".
func (p *Policy) Leads(name string) (site string, shadow bool) {
	for _, partner := range p.partners {
		if partner.Name == name {
			return p.places[partner.site].name, partner.shadow
		}
	}
	return "", false
}

// leading gives the best of the routes that lead the client to a site: that of the longest prefix, and
// of its routes the one that comes first.
func (e *explainer) leading(site placeID) (bgp.Route, bool) {
	sites := e.s.in.Policy.sites()
	for _, routes := range e.s.in.Routes.Covering(e.q.Client.Address) {
		for _, tier := range bgp.Tiers(routes) {
			for _, r := range tier {
				if sites[r.Partner].has(site) {
					return r, true
				}
			}
		}
	}
	return bgp.Route{}, false
}

// addRoute names the route that leads the client to a partner's site.
func (e *explainer) addRoute(l *Line, site placeID) {
	r, ok := e.leading(site)
	if !ok {
		return
	}
	l.add("partner", r.Partner)
	l.add("prefix", r.Prefix)
	if r.Static() {
		l.add("peer", "static")
		return
	}
	l.add("origin", r.Path.Origin)
	l.add("peer", r.Peer)
	l.add("age", Ago(e.q.Now.Sub(r.Since)))
	if !r.Stale.IsZero() {
		l.add("stale", Ago(e.q.Now.Sub(r.Stale)))
	}
}
