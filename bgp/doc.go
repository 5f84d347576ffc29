// Package bgp answers one question: which networks do our partners announce?
//
// A partner is a network that wants its own users, and only those, on the site inside it. A
// [Route] says that one of its prefixes leads there; a [Table] holds every route of every partner,
// immutable and numbered, so that it can be published by one pointer:
//
//	t := bgp.NewTable(1, []bgp.Route{{Prefix: p, Partner: "sibtel", Preference: 100}})
//	for prefix, routes := range t.Covering(client) { … } // longest prefix first
//
// Several partners may announce one prefix. All stay candidates, in the order that [Tiers] gives,
// so that the second serves when the first cannot.
//
// The routes are learned over BGP. [Sessions] holds the connections to the peers and passes their
// bytes, screened by package bgp/screen, to a speaker in a process of its own (package bgp/speaker;
// package bgp/wire is the protocol between the two), so that a malformed message can never end the
// server. [Sessions] hands what the speaker hears to a [Sink], which in the server is a [RIB]. The
// RIB judges every announcement by what may be believed of its [Partner], keeps for a while what a
// lost session had announced, and publishes the tables.
//
// The package knows no sites, no services and no configuration: who a partner is and where its
// networks lead is the business of dns/steer.
package bgp
