package steer

import (
	"cmp"
	"hash/fnv"
	"slices"

	"gslb/config"
	"gslb/dns/zone"
	"gslb/geo"
	"gslb/geo/prefix"
	"gslb/health"
)

// Compile turns a configuration into a policy. It always runs to its end, also on a configuration
// that has errors, so that the operator sees every problem at once; the policy is of use only
// when there are none.
func Compile(cfg *config.Config) (*Policy, config.Problems) { return Recompile(cfg, nil) }

// Recompile is [Compile] with an older policy, or nil, to share what is the same: zones and probes. It gives what
// Compile gives.
func Recompile(cfg *config.Config, old *Policy) (*Policy, config.Problems) {
	c := &compiler{
		cfg: cfg, old: old,
		policy: &Policy{
			hash: cfg.Hash(), nsid: cfg.Server.NSID, explain: cfg.Server.Explain, proxies: cfg.Server.Proxies, drains: cfg.Drains,
			transfers: map[*zone.Zone]*config.Transfer{}, keys: cfg.Server.TSIGKeys,
			rateLimit: cfg.Server.RateLimit, cookies: cfg.Server.Cookies, cookieSecrets: cfg.Server.CookieSecrets,
			tokens: map[string]health.Token{}, rampOf: map[string]int{}, hands: map[hand]config.State{},
		},
		places:  map[string]placeID{},
		checks:  map[string]health.Check{},
		sets:    map[string]*placeSet{},
		views:   map[viewOf]int{},
		uplinks: map[placeID][]int32{},
	}
	c.compilePlaces()
	c.compilePartners()
	c.compileMaps()
	c.compileNamed()
	c.compileServices()
	c.compileBrake()
	if old != nil && slices.Equal(c.policy.targets, old.targets) {
		c.policy.targets = old.targets
	}
	c.compileZones()
	c.warnForeign()
	c.checkShadows()
	c.checkDelegated()
	return c.policy, c.problems
}

type compiler struct {
	cfg      *config.Config
	old      *Policy // nil: there is none
	policy   *Policy
	problems config.Problems
	places   map[string]placeID
	services map[string]int
	sets     map[string]*placeSet    // by the numbers of the places
	views    map[viewOf]int          // their numbers
	checks   map[string]health.Check // those that are asked for
	targets  map[probe]int32
	uplinks  map[placeID][]int32 // targets of a place as a whole
}

func (c *compiler) compilePlaces() {
	for _, p := range c.cfg.Places {
		c.places[p.Name] = placeID(len(c.policy.places))
		c.policy.places = append(c.policy.places, place{
			name: p.Name, located: p.Located, location: [2]float64{p.Latitude, p.Longitude}, point: geo.PointAt(p.Latitude, p.Longitude),
			datacenter: p.Kind == config.Datacenter, partnersOnly: p.PartnersOnly, weight: p.Weight, capacity: p.Capacity,
		})
	}
}

func seedOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

func (c *compiler) compileMaps() {
	c.policy.maps = []rules{{rule{nearest: true}}}
	for _, m := range c.cfg.Maps {
		var rs rules
		for _, r := range m.Rules {
			rs = append(rs, rule{
				country: r.Country, region: r.Region, continent: r.Continent, city: r.City, asn: r.ASN,
				networks: r.Networks, nearest: r.Nearest, to: c.list(r.To),
			})
			c.policy.networks = append(c.policy.networks, r.Networks...)
		}
		c.policy.maps = append(c.policy.maps, rs)
	}
}

func (c *compiler) compileNamed() {
	var b prefix.Builder
	for _, p := range c.policy.networks {
		b.Set(p, 1)
	}
	c.policy.named = b.Table()
}

// list resolves tiers of place names, without those that geography never picks.
func (c *compiler) list(tiers [][]string) list {
	var l list
	for _, names := range tiers {
		var tier []placeID
		for _, name := range names {
			if p, ok := c.places[name]; ok && !c.policy.places[p].partnersOnly {
				tier = append(tier, p)
			}
		}
		l = l.then(list{tier})
	}
	return l
}

func (c *compiler) compileServices() {
	c.policy.viewNumbers = map[string]int{}
	c.expect()
	c.compileUplinks()
	for i, s := range c.cfg.Services {
		c.services[s.Name] = i
		c.policy.services[i] = c.service(s)
		c.compileRamps(i)
	}
}

// expect makes room for all services, and for about as many targets as they have.
func (c *compiler) expect() {
	members := 0
	for _, s := range c.cfg.Services {
		members += len(s.At)
	}
	c.policy.services = make([]Service, len(c.cfg.Services))
	c.services = make(map[string]int, len(c.cfg.Services))
	c.targets = make(map[probe]int32, members)
}

// compileRamps notes which members of a service ramp. The only place of a service never does: its clients
// have nowhere else to wait.
func (c *compiler) compileRamps(service int) {
	svc := &c.policy.services[service]
	for i, m := range svc.members {
		if m.ramp > 0 && len(svc.members) > 1 {
			svc.ramps = true
			name := tenureName(svc.name, c.policy.places[m.place].name)
			c.policy.rampOf[name] = len(c.policy.ramps)
			c.policy.ramps = append(c.policy.ramps, ramping{name, service, i, m.ramp})
		}
	}
}

func (c *compiler) service(s config.Service) Service {
	svc := Service{
		name: s.Name, ttl: s.TTL, ttlMin: s.TTLMin, stages: s.Steer, mapName: s.Map, view: -1, answer: min(cmp.Or(s.Answer, maxChosen), maxChosen),
		hashes: s.Pick == config.PickHash && s.Answer != 0, allDown: s.AllDown, maxAddresses: s.MaxAddresses,
	}
	if s.HTTPS != nil {
		svc.https = &Binding{Port: s.HTTPS.Port}
		for _, protocol := range s.HTTPS.ALPN {
			svc.https.ALPN = append(append(svc.https.ALPN, byte(len(protocol))), protocol...)
		}
	}
	svc.gives, svc.members = zone.TypeA, make([]member, 0, len(s.At))
	for _, m := range s.At {
		p, ok := c.places[m.Place]
		if !ok {
			continue
		}
		mem := member{place: p, seed: seedOf(m.Place), weight: uint64(m.Weight), degraded: uint64(m.DegradedWeight), minHealthy: m.MinHealthy.Of(max(1, len(m.Endpoints))), ramp: m.Ramp}
		endpoints := m.Endpoints
		if m.Host != nil {
			mem.host, endpoints = hostOf(m.Host), []config.Endpoint{{Address: unaddressed, Probe: m.Probe}}
			svc.gives = mem.host.rrtype()
		}
		mem.endpoints = make([]endpoint, len(endpoints))
		for i, e := range endpoints {
			mem.endpoints[i] = c.endpoint(m, p, e)
			svc.hasIPv4 = svc.hasIPv4 || e.Address.Is4()
			if mem.endpoints[i].state == config.StateDown {
				continue
			}
			mem.all[familyOf(e.Address)] = append(mem.all[familyOf(e.Address)], e.Address)
		}
		svc.members = append(svc.members, mem)
	}
	slices.SortFunc(svc.members, func(a, b member) int { return cmp.Compare(a.place, b.place) })
	svc.places = c.placeSet(svc.members)
	if slices.Contains(s.Steer, config.StageGeo) {
		svc.view = c.view(s.Map, svc.places)
	}
	return svc
}

// viewOf is who sees geography in one way: services with these places and this map.
type viewOf struct {
	at      *placeSet
	mapName string
}

// view numbers the way in which a service sees geography. Services with one map share it, unless
// the map asks for the nearest: then only those that can be at the same places.
func (c *compiler) view(mapName string, at *placeSet) int {
	of := viewOf{at, mapName}
	if i, ok := c.views[of]; ok {
		return i
	}
	v := viewKey{rules: 1 + slices.IndexFunc(c.cfg.Maps, func(m config.Map) bool { return m.Name == mapName })}
	if c.policy.maps[v.rules].asksNearest() {
		for _, id := range at.at {
			if p := c.policy.places[id]; p.located && !p.partnersOnly {
				v.near = append(v.near, id)
			}
		}
	}
	w := v.word()
	i, ok := c.policy.viewNumbers[w]
	if !ok {
		i = len(c.policy.views)
		c.policy.viewNumbers[w] = i
		c.policy.views = append(c.policy.views, v)
	}
	c.views[of] = i
	return i
}

func (c *compiler) problem(path, message string) {
	c.problems = append(c.problems, config.Problem{Pos: c.cfg.At(path), Path: path, Message: message})
}

// warnForeign warns of aliases that lead to names of other servers: what those answer is not bound to the block that
// the alias is for.
func (c *compiler) warnForeign() {
	for i := range c.policy.services {
		if names := c.policy.foreign(&c.policy.services[i]); names != "" {
			path := "services." + c.policy.services[i].name + ".at"
			c.problems = append(c.problems, config.Problem{
				Pos: c.cfg.At(path), Path: path, Warning: true,
				Message: "leads to names of other servers (" + names + "): the client subnet's scope of the alias does not follow it there",
			})
		}
	}
}
