// Package speaker answers one question: what do the peers announce? It is the body of the hidden
// command `gslb bgp-speaker`, a child process of the server in which gobgp runs:
//
//	err := speaker.Run(ctx, os.Stdin, os.Stdout)
//
// Some malformed messages make gobgp panic in goroutines of its own, which ends its process. That is why
// gobgp runs in a process of its own, and why no other package imports it. The server deals with it only
// by the messages of package bgp/wire: the state that the server wants goes in; sessions and routes come
// out, in the order in which they happened.
//
// The speaker only listens, on a loopback port that it tells the server. The server's relay holds the
// real connections and passes the octets of each peer on from a loopback address that is this peer's
// alone, by which the speaker knows the neighbour. Every route of a session is told, even one that
// nobody may use: judging is the server's part. The speaker announces nothing.
//
// A session leaves nothing behind: when it ends the neighbour is taken out of gobgp and put in
// again, so that the next one finds no stale routes, no half-remembered capabilities and no idle
// time to sit out. Keeping what was learned, and deciding how often a peer may try, is the
// server's part too.
//
// For the demo the package also has the other end of a session: [Announce] is a router that does
// nothing but announce some networks of its own.
package speaker
