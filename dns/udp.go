package dns

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"time"
)

// serveUDP answers what comes in on one socket, until it is closed. On a wildcard address each
// answer leaves from the address that its request was sent to: the kernel tells it in a control
// message, which has the right form to be given back as it is.
func (s *Server) serveUDP(ctx context.Context, conn *net.UDPConn, wildcard bool) {
	packet := make([]byte, maxTCPAnswer)
	var control []byte
	if wildcard {
		control = make([]byte, 128)
	}
	for {
		n, oobn, _, from, err := conn.ReadMsgUDPAddrPort(packet, control)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			continue // an ICMP error of an earlier answer: not ours to mind
		}
		reply := s.responder.Respond(s.snapshot(), Request{
			Packet: packet[:n], Source: from.Addr(), Now: time.Now(), Seed: rand.Uint64(),
		})
		if reply != nil {
			_, _, _ = conn.WriteMsgUDPAddrPort(reply, control[:oobn], from) // lost answers are asked for again
		}
	}
}
