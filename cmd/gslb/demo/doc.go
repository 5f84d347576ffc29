// Package demo answers the question: what does a newcomer see in the first minute? It is a whole world of
// gslb on one machine, to be asked, broken, drained and healed.
//
// The world has three datacenters and a CDN site. Each is a small web server on a loopback address of
// its own: the addresses in answers are the ones that are checked, and curl reaches them too. A partner
// has the site inside its network, and a router that announces this network in a real BGP session. The
// configuration is in a folder made for the demo. The name server is gslb itself, run as a child with
// this configuration, so every verb of gslb works on the demo as on any other server. The router is
// gslb as well, run as another child.
//
//	err := demo.Run(ctx, demo.Options{Program: "/usr/bin/gslb", In: os.Stdin, Out: os.Stdout})
//
// Run first shows what there is and what to try, and then each change as it happens, until ctx ends
// or somebody types quit. Afterwards nothing is left: no process, no file. The children see to that even
// when the demo is killed; see [Attend].
//
// The package has no code of its own for DNS, BGP or steering: it asks the server for what it shows.
package demo
