package steer

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/zone"
	"gslb/geo"
	"gslb/geo/prefix"
	"gslb/health"
)

// Policy is a configuration with every name resolved to a small integer. It is immutable, and
// deterministic: nothing in it depends on the running system.
type Policy struct {
	hash     string
	places   []place
	partners []partner
	maps     []rules // maps[0] is the unnamed one: nearest by distance
	views    []viewKey
	services []Service
	ramps    []ramping               // every member that is to come back step by step
	rampOf   map[string]int          // index in ramps, by name
	targets  []health.Target         // every probe that some endpoint wants, in order of first mention
	tokens   map[string]health.Token // by push check
	drains   []config.Drain
	zones    []*zone.Zone
	origins  zone.Index // of the zones
	peers    []bgp.Peer
	local    bgp.Local
	rpki     rpki.From
	networks []netip.Prefix // every configured networks list: never bogus
	explain  []netip.Prefix
	proxies  []netip.Prefix
	brake    int                   // share of failing endpoints from which on verdicts are held, in percent; 0: never
	hands    map[hand]config.State // of what is not left to the checks
	nsid     string

	transfers map[*zone.Zone]*config.Transfer
	signed    []sign.Source // the zones that are to be signed
	keys      []config.TSIGKey

	rateLimit     *config.RateLimit
	cookies       bool
	cookieSecrets []config.CookieSecret

	viewNumbers map[string]int // in views, by the word of the key
	named       *prefix.Table  // 1 for the addresses in networks
}

// placeID is a place's index in Policy.places.
type placeID int32

type place struct {
	name         string
	located      bool
	location     [2]float64 // latitude and longitude in degrees, if located
	point        geo.Point  // the same
	datacenter   bool
	partnersOnly bool
	weight       int     // by default, in a draw
	capacity     float64 // what it can carry; 0: not known
}

type partner struct {
	bgp.Partner
	site   placeID
	shadow bool
}

// Service is one service of a policy.
type Service struct {
	name         string
	ttl, ttlMin  uint32
	stages       []config.Stage
	mapName      string // as the operator wrote it; empty for nearest
	view         int    // index in Policy.views; -1 without a geo stage
	answer       int    // places in one answer, at most maxChosen
	hashes       bool   // which of more places are answered is a matter of the client's network, and not of luck
	allDown      config.AllDown
	maxAddresses int
	gives        uint16    // the type of record that its places are given by: A (and AAAA), CNAME or SRV
	https        *Binding  // nil: no HTTPS records
	members      []member  // sorted by place
	places       *placeSet // those of members
	hasIPv4      bool
	ramps        bool // some member does not get all of its clients back at once
}

// Name is the service's name in the configuration.
func (svc *Service) Name() string { return svc.name }

// Binding is what a service's HTTPS records tell beside the addresses (RFC 9460).
type Binding struct {
	ALPN []byte // protocols in wire form, each behind its length
	Port uint16 // 0: the usual one
}

// HTTPS is what the service's HTTPS records tell; nil when it has none.
func (svc *Service) HTTPS() *Binding { return svc.https }

// TTL is the service's own TTL in seconds: that of answers while every window is clean.
func (svc *Service) TTL() uint32 { return svc.ttl }

// member is what one place gives to a service.
type member struct {
	place      placeID
	seed       uint64 // of the place's name, for rendezvous hashing
	weight     uint64
	degraded   uint64 // the weight while every endpoint that serves is degraded
	minHealthy int
	host       *Host         // that is given in place of addresses; nil: none
	ramp       time.Duration // 0: it gets all of its clients back at once
	endpoints  []endpoint
	all        [2][]netip.Addr // their addresses by family, without those that are down by hand
}

// Places are the names of the service's members. The slice is immutable.
func (svc *Service) Places() []string { return svc.places.names }

// At tells whether a place has a part in the service.
func (svc *Service) At(place string) bool { return slices.Contains(svc.places.names, place) }

// Main is the family by which it is judged whether anybody serves: IPv4 wherever there is any.
func (svc *Service) Main() Family {
	if svc.hasIPv4 {
		return IPv4
	}
	return IPv6
}

// Targets gives every probe that the policy wants run.
func (p *Policy) Targets() []health.Target { return slices.Clone(p.targets) }

// Routes gives the static routes of the partners: preference 100, path length 0. Those of a
// shadow partner are among them: they are known, and not steered by.
func (p *Policy) Routes() []bgp.Route {
	var routes []bgp.Route
	for _, partner := range p.partners {
		for _, prefix := range partner.Networks {
			routes = append(routes, bgp.Route{Prefix: prefix, Partner: partner.Name, Preference: bgp.DefaultPreference})
		}
	}
	return routes
}

// Partners gives every partner, with what is believed of it.
func (p *Policy) Partners() []bgp.Partner {
	partners := make([]bgp.Partner, len(p.partners))
	for i, partner := range p.partners {
		partners[i] = partner.Partner
	}
	return partners
}

// Peers gives every BGP session that the policy wants.
func (p *Policy) Peers() []bgp.Peer { return slices.Clone(p.peers) }

// Local is our side of every BGP session.
func (p *Policy) Local() bgp.Local { return p.local }

// RPKI says by whose word the origins of routes are judged.
func (p *Policy) RPKI() rpki.From { return p.rpki }

// RateLimit bounds the replies of one kind that a block of clients gets; nil: it does not.
func (p *Policy) RateLimit() *config.RateLimit { return p.rateLimit }

// Cookies tells whether clients that ask for a DNS cookie get one.
func (p *Policy) Cookies() bool { return p.cookies }

// CookieSecrets gives the secrets that this server shares with others, the one that makes cookies first; none
// when it shares none.
func (p *Policy) CookieSecrets() []config.CookieSecret { return p.cookieSecrets }

// Transfer says who may have a zone as a whole; nil: nobody.
func (p *Policy) Transfer(z *zone.Zone) *config.Transfer { return p.transfers[z] }

// Signed gives the zones that are to be signed.
func (p *Policy) Signed() []sign.Source { return slices.Clone(p.signed) }

// Key finds the key of a name, in lower case and with a final dot.
func (p *Policy) Key(name string) (config.TSIGKey, bool) {
	i := slices.IndexFunc(p.keys, func(k config.TSIGKey) bool { return k.Name == name })
	if i < 0 {
		return config.TSIGKey{}, false
	}
	return p.keys[i], true
}

// Hash names the content of the configuration; see [config.Config.Hash].
func (p *Policy) Hash() string { return p.hash }

// Service gives the service at an index, as a zone's node names it.
func (p *Policy) Service(i int) *Service { return &p.services[i] }

// Services gives every service with its index.
func (p *Policy) Services() iter.Seq2[int, *Service] {
	return func(yield func(int, *Service) bool) {
		for i := range p.services {
			if !yield(i, &p.services[i]) {
				return
			}
		}
	}
}

// Networks gives every network that the configuration names, as it comes: some may be given more than once. The slice
// is immutable.
func (p *Policy) Networks() []netip.Prefix { return p.networks }

// PlaceNames gives the name of every place.
func (p *Policy) PlaceNames() []string {
	names := make([]string, len(p.places))
	for i, place := range p.places {
		names[i] = place.name
	}
	return names
}

// NamesOfServices gives, by service, the first few names that lead to it. It takes a look at every name of every zone.
func (p *Policy) NamesOfServices(few int) [][]string {
	names := make([][]string, len(p.services))
	for _, z := range p.zones {
		for name, node := range z.All() {
			if i := node.Service; i >= 0 && len(names[i]) < few {
				names[i] = append(names[i], strings.TrimSuffix(name.String(), "."))
			}
		}
	}
	return names
}

// Zone finds the zone that a name lies in: the closest one, where zones nest.
func (p *Policy) Zone(name zone.Name) (*zone.Zone, bool) {
	_, z, ok := p.ZoneAt(name)
	return z, ok
}

// ZoneAt is [Policy.Zone] with the zone's index in [Policy.Zones].
func (p *Policy) ZoneAt(name zone.Name) (index int, z *zone.Zone, ok bool) {
	at, ok := p.origins.Closest(name)
	if !ok {
		return -1, nil, false
	}
	return int(at), p.zones[at], true
}

// Zones gives every zone. The slice is immutable.
func (p *Policy) Zones() []*zone.Zone { return p.zones }

// NSID is the name that the operator gave to this server; empty for the host's own.
func (p *Policy) NSID() string { return p.nsid }

// MayExplain tells whether reasons are given to this source.
func (p *Policy) MayExplain(source netip.Addr) bool { return holds(p.explain, source) }

// Proxied tells whether there are proxies at all.
func (p *Policy) Proxied() bool { return len(p.proxies) > 0 }

// Proxy tells whether this source is one that speaks for others, by the PROXY protocol.
func (p *Policy) Proxy(source netip.Addr) bool { return holds(p.proxies, source) }

func holds(prefixes []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// nextExpiry is the earliest end of a drain that still holds at the given time; zero when none ends.
func (p *Policy) nextExpiry(now time.Time) time.Time {
	var next time.Time
	for _, d := range p.drains {
		if !d.Until.IsZero() && !d.Over(now) && (next.IsZero() || d.Until.Before(next)) {
			next = d.Until
		}
	}
	return next
}

// activeAt gives the drains that hold at the given time, by place.
func (p *Policy) activeAt(now time.Time) map[string][]*config.Drain {
	active := map[string][]*config.Drain{}
	for i := range p.drains {
		if d := &p.drains[i]; !d.Over(now) {
			active[d.Target] = append(active[d.Target], d)
		}
	}
	return active
}

// drainOf gives what the drains of a place mean for a service: the one to be named in reasons (the one
// that ends last), or nil, and whether any of them is hard.
func drainOf(drains []*config.Drain, service string) (named *config.Drain, hard bool) {
	for _, d := range drains {
		if d.Service != "" && d.Service != service {
			continue
		}
		hard = hard || d.Hard
		if named == nil || endsLater(*d, *named) {
			named = d
		}
	}
	return named, hard
}

func endsLater(a, b config.Drain) bool {
	switch {
	case b.Until.IsZero():
		return false
	case a.Until.IsZero():
		return true
	}
	return a.Until.After(b.Until)
}
