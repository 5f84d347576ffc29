// Package sign answers: which records prove what a zone says, and what it does not?
//
// Signing is easy for a zone that never changes, but this server's answers do change: health and steering move the
// addresses of a name from one second to the next. So the work is divided by what moves. A [Zone] belongs to a
// [zone.Zone] and holds a signature for each of its RRsets and the records of its denials, all made before the first
// question. A [Steered] holds the signatures for one name that a service answers: for each set of records that was
// announced to it beforehand, and for a set that nobody foresaw from the first time that it is asked for. Whoever answers
// only copies:
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
// A [Signer] keeps all zones signed while time passes: it renews signatures long before they expire, spread over time so
// that they do not all come due at once, and follows the timing of the keys and the changes in their folders. A signature
// that is not good at a given moment is never handed out in silence: see [Signature.Good].
//
// The package decides nothing about who gets what, makes no packets, and asks nobody: that a parent has a DS record is
// for the operator to say.
package sign
