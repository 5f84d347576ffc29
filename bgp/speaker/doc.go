// Package speaker answers one question: what do the peers announce? It is the body of the hidden
// command `gslb bgp-speaker`, a child process of the server in which gobgp runs:
//
//	err := speaker.Run(ctx, os.Stdin, os.Stdout)
//
// gobgp ends its process on some malformed messages, in goroutines of its own, which is why it has
// a process of its own and this is the only package that imports it. The server sees nothing of it
// but the messages of package bgp/wire: the state that it wants goes in, sessions and routes come
// out, in the order in which they happened.
//
// The speaker only listens, on a loopback port that it tells. The server's relay holds the real
// connections and hands each peer's octets on from a loopback address of its own, by which the
// speaker knows the neighbour. Every route of a session is told, also those that nobody may use:
// judging is the server's part. The speaker announces nothing.
//
// A session leaves nothing behind: when it ends the neighbour is taken out of gobgp and put in
// again, so that the next one finds no stale routes, no half-remembered capabilities and no idle
// time to sit out. Keeping what was learned, and deciding how often a peer may try, is the
// server's part too.
//
// The package also has the other end of a session, for the demo: [Announce] is a router that does
// nothing but announce some networks of its own.
package speaker
