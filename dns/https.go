package dns

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/doh"
)

// Bounds on the connections of a door whose connections cost more than plain ones, as [tcpConnections] and [tcpPerSource].
const (
	costlyConnections = 1024
	costlyPerSource   = 128
)

// serveHTTPS answers what comes by HTTP, until the listener is closed.
func (s *Server) serveHTTPS(ctx context.Context, l net.Listener) {
	server := doh.Server{
		Path: s.path, TLS: s.secure(HTTPS), Answer: s.answerHTTPS,
		Longest: requestSize, Idle: tcpIdle, Write: tcpWrite,
	}
	h := s.hall(ctx, l, costlyConnections, costlyPerSource)
	if err := server.Run(ctx, h); err != nil {
		s.log.Error("address no longer answers", "address", l.Addr(), "transport", HTTPS, "cause", err)
	}
}

// path is where questions are asked by HTTP.
func (s *Server) path() string {
	if path := s.httpPath.Load(); path != nil {
		return *path
	}
	return ""
}

// answerHTTPS answers one message of a connection. A message has one reply there, so that there are no zone transfers.
func (s *Server) answerHTTPS(conn net.Conn, message []byte) (reply []byte, keep time.Duration) {
	v, now := conn.(*visitor), time.Now()
	v.guest.heardAt(now)
	reply = s.responder.Respond(s.snapshot(), Request{Packet: message, Source: v.source, Over: HTTPS, Now: now, Seed: rand.Uint64()}, nil)
	return reply, leastTTL(reply)
}

// leastTTL is for how long a reply may be kept as it is: none of its records longer than its TTL says. Without
// records it may not be kept.
func leastTTL(reply []byte) time.Duration {
	if len(reply) < headerSize {
		return 0
	}
	count := func(i int) int { return int(binary.BigEndian.Uint16(reply[4+2*i:])) }
	at, least, found := headerSize, uint32(0), false
	for i := range count(0) + count(1) + count(2) + count(3) {
		var ok bool
		if at, ok = skipName(reply, at); !ok || len(reply) < at+4 {
			return 0
		}
		if i < count(0) {
			at += 4
			continue
		}
		if len(reply) < at+10 {
			return 0
		}
		if rrtype := binary.BigEndian.Uint16(reply[at:]); rrtype != dns.TypeOPT && rrtype != dns.TypeTSIG {
			ttl := binary.BigEndian.Uint32(reply[at+4:])
			if !found || ttl < least {
				least, found = ttl, true
			}
		}
		at += 10 + int(binary.BigEndian.Uint16(reply[at+8:]))
	}
	return time.Duration(least) * time.Second
}
