package traffic

import (
	"time"

	"gslb/bgp"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// Sunny is the snapshot of a policy on a day on which everything is up, and partners announce nothing but what stands in the
// configuration.
func Sunny(policy *steer.Policy, world *geo.Map, now time.Time) *steer.Snapshot {
	board := health.NewBoard()
	board.Apply(policy.Targets(), now)
	for _, t := range policy.Targets() {
		board.Record(t.Key(), health.Result{OK: true}, now)
	}
	return steer.Build(steer.Inputs{
		Policy: policy, Health: board.Latest(), Routes: bgp.NewTable(1, policy.Routes()), Geo: world, Now: now,
	}, nil)
}
