package steer

import (
	"fmt"

	"gslb/dns/zone"
)

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
