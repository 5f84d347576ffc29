// Package dns answers one question: is the name server, as it is shipped, what others take a name server to be?
// Its tests build the gslb binary and run it beside programs as Debian packages them.
//
// NSD and Knot get the same master files (testdata) and the same questions, thousands of them, good ones and broken
// ones. What the three answer must be equal: RCODE, flags and sections as sets. Where answers differ, a list says what is
// accepted and by which sentence of which RFC (accepted_test.go). A difference that is not on the list fails, and so does
// an entry of the list that nothing needs any more.
//
// The others use the server as they would any: dig, kdig, drill and dnsperf ask it, NSD and Knot are its secondaries,
// unbound and BIND resolve through it with ECS, dnsviz and zonemaster judge it in a network namespace that has nothing
// but loopback, where port 53 and the root zone are ours to give away.
//
// Tests of a program that is not installed are skipped, or fail when CI is set. Nothing here is for other packages.
package dns
