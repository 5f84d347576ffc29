package steer

import (
	"net/netip"

	"gslb/health"
)

// Pushed gives the token of a push check, and the addresses that are probed by it. A check of another
// name has none.
func (p *Policy) Pushed(check string) (token health.Token, addresses map[netip.Addr]bool, ok bool) {
	token, ok = p.tokens[check]
	if !ok {
		return token, nil, false
	}
	addresses = map[netip.Addr]bool{}
	for _, t := range p.targets {
		if t.Check.Kind == (health.Push{Name: check}) {
			addresses[t.Address] = true
		}
	}
	return token, addresses, true
}
