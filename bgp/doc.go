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
// What is learned comes over BGP. [Sessions] holds the peers' connections and passes their bytes,
// screened (package bgp/screen), to a speaker in a process of its own (package bgp/speaker, told by
// package bgp/wire): what a malformed message can end is never the server. It tells a [Sink] what
// the speaker hears; a [RIB] is made for that. It judges every announcement by what is believed of
// its [Partner], keeps what a lost session had announced for a while, and publishes the tables.
//
// The package knows no sites, no services and no configuration: who a partner is and where its
// networks lead is the business of dns/steer.
package bgp
