// Package demo answers what a newcomer sees in the first minute: a whole world of gslb on one
// machine, to be asked, broken, drained and healed.
//
// The world has three datacenters and a CDN site, each a small web server on a loopback address of
// its own: the addresses that are answered are those that are checked, and curl reaches them too.
// A partner has the site inside its network, and a router that announces this network in a real BGP
// session. A folder of its own holds the configuration, and the name server is gslb itself, run as a
// child that works by it: every verb of gslb works on the demo as on any other server. The router is
// gslb as well, run as another child.
//
//	err := demo.Run(ctx, demo.Options{Program: "/usr/bin/gslb", In: os.Stdin, Out: os.Stdout})
//
// Run shows first what there is and what to try, and then each change as it happens, until ctx ends
// or somebody types quit. Then nothing is left: no process, no file. The children see to that even
// when the demo is killed; see [Attend].
//
// The package has no code for DNS or BGP and none that steers: what it shows, it asks the server for.
package demo
