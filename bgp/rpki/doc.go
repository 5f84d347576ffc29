// Package rpki answers one question: may this AS originate this prefix?
//
// The holders of address space sign statements of who may announce it. Validation turns these into a
// list of VRPs, "validated ROA payloads": a prefix, the length of the longest prefix inside it that may
// be announced, and an ASN. A [Set] holds them and judges by RFC 6811:
//
//	set := rpki.NewSet(vrps)
//	if set.Validate(prefix, origin) == rpki.Invalid { … }
//
// VRPs come from a validator that runs elsewhere: in a JSON file that it writes ([ReadFile]), or from
// its cache by the RPKI-to-Router protocol (RFC 8210). A [Source] follows any number of files and caches
// and keeps the union of what they hold.
//
// The package validates no certificates and fetches nothing from repositories.
package rpki
