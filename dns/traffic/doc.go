// Package traffic answers the question: where do many clients go, before and after a change, and when a place is lost?
//
// What one client gets is decided by [gslb/dns/steer], here too. The nouns of this package are about the many: a [Crowd] is
// the clients that share one address; a [Move] is those of them that go elsewhere than before; a [Load] is what a place
// carries of a service; a [Loss] is what the others carry when one place is lost.
//
//	crowds := traffic.Sample(before, after, 100_000) // where nobody has counted the clients
//	comparison := traffic.Compare(before, after, crowds)
//	losses := traffic.Losses(after, map[string]float64{"video": 300}, crowds)
//
// Figures say what clients can expect, not what one draw gave them. Equal snapshots and crowds give equal results.
//
// The package reads no clock, asks no endpoint and measures nothing: whether places are up is what the snapshots say.
package traffic
