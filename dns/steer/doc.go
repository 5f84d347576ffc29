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
// It is read best in the order in which an answer comes about: policy.go and compile.go, what the operator said; snapshot.go,
// partition.go and standing.go, what is true at the moment; decide.go, walk.go and pick.go, the decision. What tells of it
// (explain.go, overview.go, event.go, outlook.go) can be read by itself. What must be remembered from one snapshot to the
// next is in tenure.go and begun.go: [Follow]. Which snapshot is in force is for gslb/dns/publish to say, and where many
// clients go for gslb/dns/traffic.
//
// The package opens no socket and no file, reads no clock, writes no log, and leaves no goroutine behind.
package steer
