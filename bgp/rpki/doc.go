// Package rpki answers one question: may this AS originate this prefix?
//
// The holders of address space sign who may announce it. What is left of that after validation is a
// list of VRPs, "validated ROA payloads": a prefix, the longest prefix inside it that may be
// announced, and an ASN. A [Set] holds them and judges by RFC 6811:
//
//	set := rpki.NewSet(vrps)
//	if set.Validate(prefix, origin) == rpki.Invalid { … }
//
// They come from a validator that runs elsewhere: as a JSON file that it writes ([ReadFile]), or from
// its cache by the RPKI-to-Router protocol (RFC 8210). A [Source] follows any number of these and
// keeps the union.
//
// The package validates no certificates and fetches nothing from repositories.
package rpki
