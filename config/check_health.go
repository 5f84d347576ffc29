package config

import (
	"net/netip"
	"slices"
)

// brake judges what tells failures of ours from others.
func (k *checker) brake() {
	b := k.c.Brake
	for _, r := range b.Reference {
		path := keyPath("brake.reference", r.Check)
		if ownName.pattern.MatchString(r.Check) && !k.checks.known[r.Check] {
			k.error(path, "no check is named %s%s", r.Check, k.meant(r.Check, k.checks.words))
		}
		for i, a := range r.Addresses {
			if place := k.probed(r.Check, a); place != "" && k.sound(path) {
				k.error(itemPath(path, i), "%s is an endpoint in %s, so that it cannot tell their failures from ours", a, place)
			}
		}
	}
	if b.Percent == 0 && len(b.Reference) > 0 && k.sound("brake", "share", "reference") && (k.given("brake.share") || k.given("brake.reference")) {
		k.warn("brake.reference", "is not used: the brake is off")
	}
}

// probed tells in which place an address is probed by a check; "" when in none.
func (k *checker) probed(check string, a netip.Addr) string {
	for _, s := range k.c.Services {
		for _, m := range s.At {
			if slices.Contains(m.Checks, check) && slices.ContainsFunc(m.Endpoints, func(e Endpoint) bool { return e.Probe == a }) {
				return m.Place
			}
		}
	}
	return ""
}

// refersToChecks checks the names of checks at a path.
func (k *checker) refersToChecks(path string, names []string) {
	for i, name := range names {
		if k.checks.known[name] {
			continue
		}
		at := path
		if here := itemPath(path, i); k.given(here) {
			at = here
		}
		k.refer(at, name, k.checks)
	}
}

// uplink judges the check of a place as a whole.
func (k *checker) uplink(p Place) {
	path := keyPath(p.Kind.section(), p.Name)
	k.refersToChecks(path+".check", p.Checks)
	if k.sound(path, "weight", "degraded_weight") && p.DegradedWeight > p.Weight {
		k.error(path+".degraded_weight", "%d is more than the weight of %d", p.DegradedWeight, p.Weight)
	}
	if !k.sound(path, "check", "address") {
		return
	}
	switch {
	case len(p.Checks) > 0 && len(p.Addresses) == 0:
		k.error(path+".check", "needs address: where the place as a whole is probed")
	case len(p.Checks) == 0 && len(p.Addresses) > 0:
		k.warn(path+".address", "is not used: there is no check")
	}
}
