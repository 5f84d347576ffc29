// Package steer answers the question of the whole program: which sites does this client get, and why?
//
// The operator's words are compiled once into a [Policy], in which every name has become a small
// integer. The policy and the newest inputs (verdicts of health, routes of partners, the geo map)
// build one immutable [Snapshot]; [Decide] reads it and nothing else:
//
//	policy, problems := steer.Compile(cfg)
//	snapshot := steer.Build(steer.Inputs{Policy: policy, Health: report, Routes: routes, Geo: world, Now: now}, previous)
//	decision := steer.Decide(snapshot, steer.Query{Service: i, Client: client, Family: steer.IPv4})
//
// Its nouns: a place is a datacenter or a site. A service has members: what a place gives to it,
// as endpoints. The stages of a service give tiers of places for a client; the first tier with a
// serving place wins. The standing of a member says whether it serves, is withdrawn or drained.
// The scope is the widest block around the client in which every address gets the same tiers.
//
// [Explain] runs the same Decide and puts its trail into words; dig, the command line and HTTP
// print these. An [Outlook] tells what clients can expect of it over many draws.
//
// The files, best read in the order in which an answer comes about:
//
//	what the operator said    policy.go, compile*.go; parts of it: places.go, rule.go, list.go, drain.go, hand.go, endpoints.go, push.go
//	what a member gives       host.go, record.go, gift.go
//	where clients are         partition.go, terrain.go, routed.go: the address space, cut by maps and by routes
//	how members stand         standing*.go, condition.go, ramp.go, brake.go
//	what is true now          snapshot.go, reuse.go: all of this, and what is taken over from the snapshot before
//	the decision              client.go, decide.go, walk.go, pick.go
//	what may come next        coming.go: for those who sign it ahead
//	what tells of a decision  explain.go, chain.go, leads.go, words.go; outlook.go
//	what tells of all         overview*.go, event*.go, concern.go
//	what is remembered        tenure.go, begun.go: from one snapshot to the next, by [Follow]
//
// What tells of something can be read by itself: nothing that decides calls it. Which snapshot is in force is for
// gslb/dns/publish to say, and where many clients go for gslb/dns/traffic.
//
// The package opens no socket and no file, reads no clock, writes no log, and leaves no goroutine behind.
package steer
