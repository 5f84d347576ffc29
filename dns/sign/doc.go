// Package sign answers: which records prove what a zone says, and what it does not?
//
// A signed zone is easy when it never changes, and this server's answers do: health and steering move the addresses of
// a name from one second to the next. So the work is cut by what moves. A [Zone] holds, beside a [zone.Zone], a signature
// of each of its RRsets and the records of its denials, all made before the first question. A [Steered] holds those
// of one name that a service answers: of each set of records it was told of beforehand, and of sets that nobody
// foresaw as soon as they are asked for, once. Whoever answers only copies:
//
//	signature := signed.Signature(node, dns.TypeMX)                   // of what the zone holds
//	signature := signed.Steered(node).Signature(dns.TypeA, records)   // of what a service gives now
//	proof := signed.Missing(room[:0], name, encloser)                 // of what there is not
//
// Its nouns: a [Key] is a pair of BIND's key files, whose timing says when it is published and signs. A ring is the keys
// of a zone at one moment. A signature is whole RRSIG records in wire form, one for each key that signs.
// A [Record] is a record of denial, NSEC or NSEC3, with its own signature. The order of records in a packet is no
// part of what is signed, nor is a TTL below the original one: rotating an answer and shortening its TTL cost nothing.
//
// A [Signer] keeps all zones signed while time passes: it makes signatures anew long before they expire, at
// times that differ from one to the next, follows the keys' timing and what changes in their folders. Signatures that
// are not good at a given moment are never handed out in silence: see [Signature.Good].
//
// The package decides nothing about who gets what, makes no packets, and asks nobody: that a parent has a DS record is
// for the operator to say.
package sign
