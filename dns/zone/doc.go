// Package zone answers: what does a zone hold at a name?
//
// A [Spec] is what an operator wrote: an origin, keys for SOA and NS, master-file texts, and names
// given to services. [Build] turns it into a [Zone], immutable and ready for questions, or into all
// its mistakes, each with its line. [Zone.Find] is the look-up: it says whether a name exists, is
// covered by a wildcard, is delegated away, or is missing, and hands out the [Node] with the name's
// RRsets and the index of its service. What a service gives is not known here.
//
//	z, problems := zone.Build(zone.Spec{
//		Origin:   "ok.test",
//		TTL:      3600,
//		NS:       []string{"ns1"},
//		Texts:    []zone.Text{{File: "ok.test.zone", Line: 1, Text: "ns1 A 192.0.2.53\n"}},
//		Services: []zone.ServiceName{{Name: "www", Pinned: "portal", Gives: []uint16{dns.TypeA, dns.TypeAAAA}}},
//	})
//
// A [Name] is a comparable value in wire form and lower case, so a question's name is a map key; the
// names inside records keep the case they were written in, but for the zone's own name at their end, where a
// reply points to the question ([RRset]). Texts are read by the record parser of miekg/dns, one entry at a
// time, so that it knows all types and the mistakes stay apart.
//
// The package does no I/O, follows no CNAME and writes no packets, though its RRsets are ready for them. It
// refuses $INCLUDE, classes other than IN, the records of signed zones (RRSIG, NSEC, NSEC3), and zones that
// resolvers would read in two ways.
package zone
