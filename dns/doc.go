// Package dns answers the question of the wire: bytes in, bytes out.
//
// A request is parsed ([parse]: one question, its EDNS options; what is malformed leaves here),
// answered from one snapshot ([Responder.Respond]) and written back. Nothing in between looks at
// anything but the request and that snapshot, so an answer never mixes two versions:
//
//	r := dns.NewResponder("ns1", version)
//	reply := r.Respond(publisher.Latest(), dns.Request{Packet: packet, Source: source, Now: now, Seed: luck}, nil)
//
// An empty reply means that nothing is sent: the packet was no request at all, or its client has had too many replies
// (limiter). A [Worker] does the same for a goroutine that answers many requests. A zone transfer takes many messages:
// [Responder.Transfer].
//
// [Server] is the sockets around it: UDP and TCP on every listen address, and TCP with TLS inside on others.
//
// The package resolves nothing for anybody: it answers from its zones, or refuses.
package dns
