package publish

import (
	"context"
	"time"

	"gslb/dns/sign"
	"gslb/dns/steer"
)

// Ahead has the sets of records signed that services can come to give, before they give them.
type Ahead struct{ publisher *Publisher }

// NewAhead makes one for the snapshots of a publisher. A publisher has one.
func NewAhead(p *Publisher) *Ahead { return &Ahead{p} }

// Run follows the publisher's snapshots until ctx ends.
func (a *Ahead) Run(ctx context.Context) error {
	var last *steer.Snapshot
	var names map[int][]*sign.Steered
	for {
		s := a.publisher.Latest()
		switch {
		case s == nil || s == last:
		case last == nil || s.Policy() != last.Policy():
			names = signedNames(s)
			services := make([]int, 0, len(names))
			for service := range names {
				services = append(services, service)
			}
			signAhead(ctx, s, services, names, 0) // what is given now comes first
			signAhead(ctx, s, services, names, steer.MaxChanges)
		default:
			signAhead(ctx, s, s.Changed(last), names, steer.MaxChanges)
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
func signedNames(s *steer.Snapshot) map[int][]*sign.Steered {
	names := map[int][]*sign.Steered{}
	for _, source := range s.Policy().Signed() {
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
func signAhead(ctx context.Context, s *steer.Snapshot, services []int, names map[int][]*sign.Steered, changes int) {
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
