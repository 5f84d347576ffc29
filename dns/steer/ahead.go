package steer

import (
	"context"
	"time"

	"gslb/dns/sign"
)

// Ahead has signed what services can come to give, before they give it.
type Ahead struct{ publisher *Publisher }

// NewAhead makes one for the snapshots of a publisher. A publisher has one.
func NewAhead(p *Publisher) *Ahead { return &Ahead{p} }

// Run follows the publisher's snapshots until ctx ends.
func (a *Ahead) Run(ctx context.Context) error {
	var last *Snapshot
	var names map[int][]*sign.Steered
	for {
		s := a.publisher.Latest()
		switch {
		case s == nil || s == last || s.in.Signed == nil:
		case last == nil || s.in.Policy != last.in.Policy:
			names = s.signedNames()
			services := make([]int, 0, len(names))
			for service := range names {
				services = append(services, service)
			}
			s.signAhead(ctx, services, names, 0) // what is given now comes first
			s.signAhead(ctx, services, names, maxChanges)
		default:
			s.signAhead(ctx, s.changed(last), names, maxChanges)
		}
		last = s
		select {
		case <-ctx.Done():
			return nil
		case <-a.publisher.stored:
		}
	}
}

// signedNames gives the names of services in signed zones, by service.
func (s *Snapshot) signedNames() map[int][]*sign.Steered {
	names := map[int][]*sign.Steered{}
	for _, source := range s.in.Policy.signed {
		z := s.Signed(source.Zone)
		if z == nil {
			continue
		}
		for _, node := range source.Zone.All() {
			if t := z.Steered(node); t != nil {
				names[node.Service] = append(names[node.Service], t)
			}
		}
	}
	return names
}

// signAhead signs what some services give, or come to give after so many changes.
func (s *Snapshot) signAhead(ctx context.Context, services []int, names map[int][]*sign.Steered, changes int) {
	for _, service := range services {
		if len(names[service]) == 0 {
			continue
		}
		sets := s.Coming(service, changes)
		for _, name := range names[service] {
			if ctx.Err() != nil {
				return
			}
			name.Ahead(sets, uint32(time.Now().Unix()))
		}
	}
}
