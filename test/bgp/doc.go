// Package bgp answers one question: does a partner get what the stories say, from the server as it
// is shipped? Its tests build the gslb binary and run it beside routers as Debian packages them (BIRD as
// a route server, FRR), and beside peers made by hand that send what no router would: everything that
// RFC 7606 is about, bad headers and OPENs, random mutations. The tests look at what clients, operators and
// peers see: answers, reasons, log lines, NOTIFICATIONs.
//
// A router is made and runs like this:
//
//	s, b := beside(t)                                    // a server and a BIRD of the test's own
//	b.configure(routes("four", "203.0.113.0/24"), b.session("gslb", s.bgp, ""))
//	b.begin()
//	s.configure(birdPartner(b, ", local: OURS", ""))
//	s.begin()
//	s.sends("203.0.113.1", "nsk")                        // waits until the client is sent to the site
//
// Everything is on loopback addresses, every test on a network of its own. Tests of a router that is not
// installed are skipped, or fail when CI is set. Nothing here is for other packages.
package bgp
