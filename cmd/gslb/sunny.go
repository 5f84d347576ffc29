package main

import (
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// sunny is the snapshot of a configuration on a day on which everything is up.
func sunny(cfg *config.Config, policy *steer.Policy, now time.Time) (*steer.Snapshot, error) {
	world, err := geo.Open(geo.Files(cfg.Geo))
	if err != nil {
		return nil, err
	}
	return sunnyIn(world, policy, now), nil
}

func sunnyIn(world *geo.Map, policy *steer.Policy, now time.Time) *steer.Snapshot {
	board := health.NewBoard()
	board.Apply(policy.Targets(), now)
	for _, t := range policy.Targets() {
		board.Record(t.Key(), health.Result{OK: true}, now)
	}
	return steer.Build(steer.Inputs{
		Policy: policy, Health: board.Latest(), Routes: bgp.NewTable(1, policy.Routes()), Geo: world, Now: now,
	}, nil)
}
