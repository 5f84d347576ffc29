// Package wire answers one question: what do the server and its BGP speaker say to each other?
//
// The speaker is a child process (package bgp/speaker) that may die at any time. Server and speaker
// exchange [Message] values over the child's standard input and output, each in a frame of its own:
// four octets of length (kind and payload), one octet of kind, the payload. Numbers in a payload
// are uvarints unless said otherwise, addresses and prefixes carry only the octets that they need,
// and a [Change] with the same [Path] as the one before it does not repeat the path.
//
//	server → speaker: [Hello], [Configure], [Stop]
//	speaker → server: [Hello], [Listening], [Session], [Routes], [EndOfRIB], [Log], [Alive]
//
// Both begin with [Hello] and part if the versions differ: there is no negotiation, since both are
// one binary and differ only while it is being replaced.
//
//	w := wire.NewWriter(pipe)
//	err := w.Write(wire.Hello{Version: wire.Version})
//
// The decoder takes whatever comes: it never panics, never reads more than [MaxFrame] for one frame,
// and allocates in proportion to the octets that it was really given. It refuses unknown kinds,
// values out of range and octets left over. The package keeps no state, knows nothing of sessions or
// gobgp, and carries no secrets: passwords stay with the relay, which owns the connections.
package wire
