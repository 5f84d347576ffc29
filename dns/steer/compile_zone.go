package steer

import (
	"fmt"

	"gslb/config"
	"gslb/dns/zone"
)

// compileZones builds the zones side by side: one has nothing to do with another. Beside answers by an older policy the
// caller's thread does it, with the priority that it has.
func (c *compiler) compileZones() {
	type result struct {
		spec     zone.Spec
		built    *zone.Zone
		problems []zone.Problem
	}
	results := make([]result, len(c.cfg.Zones))
	processors := config.AllProcessors()
	if c.old != nil {
		processors = 1
	}
	processors.Each(len(results), func(i int) {
		r := &results[i]
		r.spec = c.zoneSpec(c.cfg.Zones[i])
		r.built, r.problems = zone.Rebuild(r.spec, c.oldZone(r.spec.Origin))
	})
	var origins []zone.Name
	for i, z := range c.cfg.Zones {
		r := results[i]
		for _, p := range r.problems {
			c.zoneProblem(z, r.spec.Texts, p)
		}
		if r.built != nil {
			c.policy.zones = append(c.policy.zones, r.built)
			origins = append(origins, r.built.Origin())
			c.transfer(z, r.built)
			c.sign(z, r.built)
		}
	}
	c.policy.origins = zone.NewIndex(origins)
}

// oldZone is the zone of a name in the older policy, or nil.
func (c *compiler) oldZone(origin string) *zone.Zone {
	name, err := zone.ParseName(origin)
	if c.old == nil || err != nil {
		return nil
	}
	if z, ok := c.old.Zone(name); ok && z.Origin() == name {
		return z
	}
	return nil
}

// zoneSpec is what a zone is built of.
func (c *compiler) zoneSpec(z config.Zone) zone.Spec {
	spec := zone.Spec{Origin: z.Name, TTL: z.TTL, NS: z.NS}
	if z.SOA != nil {
		spec.SOA = &zone.SOA{
			MName: z.SOA.MName, RName: z.SOA.RName, Serial: z.SOA.Serial, Auto: z.SOA.Auto,
			Refresh: z.SOA.Refresh, Retry: z.SOA.Retry, Expire: z.SOA.Expire, Minimum: z.SOA.Minimum,
		}
	}
	spec.Texts = []zone.Text{
		{File: z.File, Line: 1, Text: z.FileText},
		{File: z.RecordsPos.File, Line: z.RecordsPos.Line, Text: z.Records},
	}
	for _, s := range z.Services {
		if i, ok := c.services[s.Service]; ok {
			spec.Services = append(spec.Services, zone.ServiceName{
				Name: s.Name, Service: i, Pinned: s.Service, Gives: c.policy.services[i].types(), Alias: c.policy.services[i].gives == zone.TypeCNAME,
			})
		}
	}
	return spec
}

// transfer notes who may have a zone as a whole.
func (c *compiler) transfer(z config.Zone, built *zone.Zone) {
	if z.Transfer == nil {
		return
	}
	c.policy.transfers[built] = z.Transfer
	if built.AutoSerial() {
		c.problem(z.Path+".transfer", "needs a SOA with a number as its serial: a hash does not grow, and secondaries would miss changes")
	}
}

// zoneProblem tells a zone's problem at the place in the operator's files where it stands.
func (c *compiler) zoneProblem(z config.Zone, texts []zone.Text, p zone.Problem) {
	problem := config.Problem{Path: z.Path, Message: p.Message, Warning: p.Warning}
	switch {
	case p.Text >= 0:
		problem.Pos = config.Pos{File: texts[p.Text].File, Line: p.Line, Column: p.Column}
		if p.Column > 0 && p.Text == 1 { // the other is a file of its own
			problem.Pos.Column += max(0, z.RecordsPos.Column-1)
		}
	default:
		if p.Key != "" {
			problem.Path += "." + p.Key
		}
		problem.Pos = c.cfg.At(problem.Path)
		if problem.Pos == (config.Pos{}) {
			problem.Pos = c.cfg.At(z.Path)
		}
	}
	c.problems = append(c.problems, problem)
}

// checkShadows refuses services at names that another zone of ours has: that zone would be asked.
func (c *compiler) checkShadows() {
	for _, z := range c.cfg.Zones {
		origin, err := zone.ParseName(z.Name)
		if err != nil {
			continue // told before
		}
		for _, s := range z.Services {
			name, err := zone.ParseRelative(s.Name, origin)
			if err != nil || !name.Below(origin) {
				continue // told before
			}
			if closest, ok := c.policy.Zone(name); ok && closest.Origin() != origin && closest.Origin().Below(origin) {
				c.problem(z.Path+".services."+s.Name, fmt.Sprintf("%s belongs to the zone %s: the service would never be asked for", name, closest.Origin()))
			}
		}
	}
}
