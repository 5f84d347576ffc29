package dns

import (
	"context"
	"iter"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"gslb/dns/doq"
)

// quicTrusting is how many connections by QUIC there are before who comes has to show that the address is its own.
const quicTrusting = 64

// serveQUIC answers what comes by QUIC to one socket, until ctx ends.
func (s *Server) serveQUIC(ctx context.Context, socket *net.UDPConn) {
	open := newCrowd(costlyConnections, costlyPerSource)
	server := doq.Server{
		TLS: s.secure(QUIC), Longest: requestSize, Idle: tcpIdle, Write: tcpWrite, Connections: 2 * costlyConnections, Trusting: quicTrusting,
		Enter: func(source netip.Addr, hangUp func()) doq.Visit {
			g := open.enter(source, time.Now(), hangUp)
			return doq.Visit{
				Leave: func() { open.leave(g) },
				Answer: func(source netip.Addr, message []byte) iter.Seq[[]byte] {
					return s.answerQUIC(g, source, message)
				},
			}
		},
	}
	if err := server.Run(ctx, socket); err != nil {
		s.log.Error("address no longer answers", "address", socket.LocalAddr(), "transport", QUIC, "cause", err)
	}
}

// answerQUIC gives the replies to one message of a connection, or nil for what no client may send.
func (s *Server) answerQUIC(g *guest, source netip.Addr, message []byte) iter.Seq[[]byte] {
	snapshot, now := s.snapshot(), time.Now()
	g.heardAt(now)
	req := Request{Packet: message, Source: source, Over: QUIC, Now: now, Seed: rand.Uint64()}
	if messages := s.responder.Transfer(snapshot, req); messages != nil {
		return inTime(messages)
	}
	reply := s.responder.Respond(snapshot, req, nil)
	if len(reply) == 0 {
		return nil
	}
	return func(yield func([]byte) bool) { yield(reply) }
}
