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
// The package knows no sites, no services and no configuration: who a partner is and where its
// networks lead is the business of dns/steer.
package bgp
