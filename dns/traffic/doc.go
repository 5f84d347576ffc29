// Package traffic answers the question: where do many clients go, before and after a change, and when a place is lost?
//
// What one client gets is for [gslb/dns/steer] to decide, and it decides here too. The nouns of this package are those of
// the many: a [Crowd] is clients that have one address; what of them goes elsewhere than before is a [Move]; what a
// place has of a service is its [Load]; a [Loss] is what the others carry when one place is lost.
//
//	crowds := traffic.Sample(before, after, 100_000) // where nobody has counted the clients
//	comparison := traffic.Compare(before, after, crowds)
//	losses := traffic.Losses(after, map[string]float64{"video": 300}, crowds)
//
// What clients can expect counts, not the luck of a draw. Equal snapshots and crowds give equal results.
//
// The package reads no clock, asks no endpoint and measures nothing: whether places are up is what the snapshots say.
package traffic
