package steer

// Scene is what an event happened to: a place, or with Endpoint one of its endpoints, or with Check one check of that.
type Scene struct{ Place, Endpoint, Check string }

// Concerns tells whether what happened there concerns a service. The service must have the place. Where the scene names
// an endpoint, it must be one of the service's there, by the address that clients get, or the address of a check of the
// place as a whole; and where it names a check, the check must be theirs.
func (s *Snapshot) Concerns(service string, at Scene) bool {
	for _, svc := range s.in.Policy.services {
		if svc.name != service {
			continue
		}
		for j := range svc.members {
			if m := &svc.members[j]; s.in.Policy.places[m.place].name == at.Place && s.happens(m, at) {
				return true
			}
		}
	}
	return false
}

// happens tells whether a member of a service has what the event names.
func (s *Snapshot) happens(m *member, at Scene) bool {
	if at.Endpoint == "" {
		return true
	}
	for _, e := range m.endpoints {
		if at.Check == "" && m.shown(e) == at.Endpoint {
			return true
		}
		for n, t := range e.targets {
			target, address := s.in.Policy.targets[t], m.shown(e)
			if n >= e.own {
				address = target.Address.String()
			}
			if address == at.Endpoint && (at.Check == "" || target.Name == at.Check) {
				return true
			}
		}
	}
	return false
}
