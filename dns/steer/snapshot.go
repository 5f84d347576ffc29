package steer

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"gslb/bgp"
	"gslb/dns/sign"
	"gslb/dns/zone"
	"gslb/geo"
	"gslb/health"
)

// Inputs is all that a snapshot is made of.
type Inputs struct {
	Policy *Policy
	Config uint64 // the number of the configuration among those of this server
	Health *health.Report
	Routes *bgp.Table
	Geo    *geo.Map
	Now    time.Time    // which drains hold
	Signed *sign.Signed // the policy's zones, as far as they are signed; nil: none is

	Tenures *Tenures // which places come back, and since when; nil: none does
}

// Version names the inputs of a snapshot, and so every answer that came from it.
type Version struct {
	Config uint64
	Hash   string // of the configuration's content
	Health uint64
	Routes uint64
	Geo    uint64
}

// String gives the version as reasons show it.
func (v Version) String() string {
	return fmt.Sprintf("config=%d:%s health=%d routes=%d geo=%d", v.Config, v.Hash, v.Health, v.Routes, v.Geo)
}

// Snapshot is all that answers are made from, at one moment. It is immutable and safe for
// concurrent use: a worker loads it once a packet and passes it down.
type Snapshot struct {
	in        Inputs
	partners  *routed
	views     []*partition // by Policy.views
	terrains  []*terrain   // by Policy.maps; nil where no view needed it
	standings standings    // by service and member
	numbers   *numbers     // of the policy's targets in Inputs.Health
	ramps     [][]ramp     // that run, by service and member; nil: none does, nor in a service with nil
	drains    int          // that hold
	drainEnd  time.Time    // when the next drain runs out; zero: never
	expiry    time.Time    // when the next drain runs out or the next ramp ends; zero: never
}

// Build makes the snapshot of the inputs. The previous one is only a cache: Build(in, prev)
// answers as Build(in, nil) does.
func Build(in Inputs, prev *Snapshot) *Snapshot {
	p := in.Policy
	s := &Snapshot{in: in, drainEnd: p.nextExpiry(in.Now)}
	for _, active := range p.activeAt(in.Now) {
		s.drains += len(active)
	}
	var beside sync.WaitGroup
	if prev == nil { // nobody is answered yet
		beside.Go(func() { s.partners = s.partnersFrom(nil) })
	} else {
		s.partners = s.partnersFrom(prev)
	}
	s.views, s.terrains = s.viewsFrom(prev)
	s.standings, s.numbers = s.standingsFrom(prev)
	beside.Wait()
	s.expiry = s.drainEnd
	s.runRamps()
	return s
}

// Follow makes the snapshot of the inputs that comes after prev, or, when prev is nil, the first one of a process. Its
// tenures say what leaves the answers in it and what comes back; those of the inputs are the earlier ones. Which
// members these are shows only once a snapshot is made, so it is then made once more with the new tenures. The snapshot
// on is used as a cache.
func Follow(in Inputs, prev, on *Snapshot) *Snapshot {
	s := Build(in, on)
	tenures := in.Tenures.follow(prev, s)
	if tenures == in.Tenures {
		return s
	}
	in.Tenures = tenures
	return Build(in, s)
}

// Policy is the policy of the snapshot.
func (s *Snapshot) Policy() *Policy { return s.in.Policy }

// Config is the number of the snapshot's configuration: another number, another policy.
func (s *Snapshot) Config() uint64 { return s.in.Config }

// Geo is the geo map of the snapshot.
func (s *Snapshot) Geo() *geo.Map { return s.in.Geo }

// Tenures is what is to be remembered of the snapshot's places.
func (s *Snapshot) Tenures() *Tenures { return s.in.Tenures }

// Version names the inputs of the snapshot.
func (s *Snapshot) Version() Version {
	return Version{s.in.Config, s.in.Policy.hash, s.in.Health.Version(), s.in.Routes.Version(), s.in.Geo.Version()}
}

// Expiry is when the next drain runs out or the next ramp ends, and a new snapshot is due; zero when none does.
func (s *Snapshot) Expiry() time.Time { return s.expiry }

// Outdated tells whether time alone makes another snapshot due: the snapshot has expired, or the clock was set back to
// before it was made, so that its ramps would wait for a moment that has already been.
func (s *Snapshot) Outdated(now time.Time) bool {
	if s.expiry.IsZero() {
		return false
	}
	wall := now.Round(0) // the clock of the process knows nothing of being set
	return !wall.Before(s.expiry) || wall.Before(s.in.Now.Round(0))
}

// Zone finds the zone that a name lies in.
func (s *Snapshot) Zone(name zone.Name) (*zone.Zone, bool) { return s.in.Policy.Zone(name) }

// Signed gives the signatures of a zone; nil: it is not signed.
func (s *Snapshot) Signed(z *zone.Zone) *sign.Zone { return s.in.Signed.Zone(z) }

// Follows tells whether an answer follows an alias of a zone to a name: it does when the name is this zone's to answer
// for or to refer on, and no other zone of ours has it.
func (s *Snapshot) Follows(z *zone.Zone, name zone.Name) bool {
	closest, _ := s.Zone(name)
	return closest == z || z.Find(name).Kind == zone.Delegation
}

// Client settles whom a query is answered for.
func (s *Snapshot) Client(source netip.Addr, subnet Subnet) Client {
	return s.in.Policy.Client(source, subnet)
}
