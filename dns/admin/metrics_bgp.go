package admin

import (
	"gslb/bgp"
)

// bgpFamilies are of partners.
type bgpFamilies struct {
	up, changed, flaps, prefixes, refused, stale, malformed, withdrawn, unknown, vrps, updated, limit Metric
}

func (d definer) bgp() bgpFamilies {
	peer := []string{"partner", "peer"}
	with := func(label string) []string { return append(peer[:2:2], label) }
	return bgpFamilies{
		up:        d.gauge("bgp_session_up", "Whether a session is established.", peer...),
		changed:   d.gauge("bgp_session_changed_time_seconds", "When a session came to its state, in seconds since 1970.", peer...),
		flaps:     d.counter("bgp_session_flaps_total", "Established sessions that ended.", peer...),
		prefixes:  d.gauge("bgp_prefixes", "Prefixes of a peer that are believed, by family.", with("family")...),
		refused:   d.gauge("bgp_refused_routes", "Routes of a peer that are not believed, by reason.", with("reason")...),
		stale:     d.gauge("bgp_stale_prefixes", "Believed prefixes of a peer that wait for a session to confirm them.", peer...),
		malformed: d.counter("bgp_malformed_messages_total", "Messages of a peer with something wrong, by what it was.", with("reason")...),
		withdrawn: d.counter("bgp_malformed_prefixes_total", "Prefixes lost to malformed attributes.", peer...),
		unknown:   d.counter("bgp_unknown_connections_total", "Connections that were closed because their source is no peer.", "address"),
		vrps:      d.gauge("rpki_vrps", "Validated ROA payloads of a source.", "source"),
		updated:   d.gauge("rpki_updated_time_seconds", "When a source of VRPs was read or asked last, in seconds since 1970: a file is read when it changes.", "source"),
		limit:     d.gauge("bgp_max_prefixes", "Prefixes, refused ones too, that one session of a partner may announce before it is closed.", "partner"),
	}
}

// peers tells how the sessions stand and what they bring.
func (c *collector) peers(s scrape, f bgpFamilies) {
	table := c.Routes()
	sessions := sessionsOf(c.Deps.Peers(), c.accounts(table))
	policy := c.Snapshot().Policy()
	for _, p := range policy.Partners() {
		s.tell(f.limit, float64(p.Accept.MaxPrefixes), p.Name)
	}
	for _, p := range policy.Peers() {
		v, peer := sessions.peer(p), p.Address.String()
		s.tell(f.up, truth(v.State == bgp.Established.String()), p.Partner, peer)
		if !v.Since.IsZero() {
			s.tell(f.changed, seconds(v.Since), p.Partner, peer)
		}
		s.tell(f.flaps, float64(v.Flaps), p.Partner, peer)
		s.tell(f.prefixes, float64(v.IPv4), p.Partner, peer, "ipv4")
		s.tell(f.prefixes, float64(v.IPv6), p.Partner, peer, "ipv6")
		s.tell(f.stale, float64(v.Stale), p.Partner, peer)
		for reason, n := range v.Refused {
			s.tell(f.refused, float64(n), p.Partner, peer, string(reason))
		}
		for reason, n := range v.Malformed {
			s.tell(f.malformed, float64(n), p.Partner, peer, reason)
		}
		s.tell(f.withdrawn, float64(v.Withdrawn), p.Partner, peer)
	}
	for _, l := range c.Listeners() {
		s.tell(f.unknown, float64(l.Unknown), l.Address.String())
	}
	for _, v := range c.RPKI() {
		s.tell(f.vrps, float64(v.VRPs), v.From)
		if !v.Updated.IsZero() {
			s.tell(f.updated, seconds(v.Updated), v.From)
		}
	}
}
