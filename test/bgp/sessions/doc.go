// Package sessions answers one question: do our BGP sessions hold with real peers? Its tests run the
// sessions of bgp with the real speaker in a child process, against a peer made by hand and against
// routers as they are packaged (BIRD), on loopback addresses only. Tests of a router that is not installed
// are skipped, or fail when CI=true.
package sessions
