package dns

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// controlSize is room for the control message that tells where a packet was sent to.
const controlSize = 64

// serveUDP answers what comes in on one socket, until it is closed: in batches where the system can, else
// packet by packet.
func (s *Server) serveUDP(ctx context.Context, conn *net.UDPConn, wildcard bool) {
	if s.serveBatches(ctx, conn, wildcard) {
		return
	}
	s.servePackets(ctx, conn, wildcard)
}

// servePackets answers one packet at a time. On a wildcard address each answer leaves from the address that
// its request was sent to: the kernel tells it in a control message, which has the right form to be given
// back.
func (s *Server) servePackets(ctx context.Context, conn *net.UDPConn, wildcard bool) {
	worker := s.responder.Worker()
	packet, room := make([]byte, maxTCPAnswer), make([]byte, 0, maxUDPAnswer)
	var control []byte
	if wildcard {
		control = make([]byte, controlSize)
	}
	failures := 0
	for {
		n, oobn, _, from, err := conn.ReadMsgUDPAddrPort(packet, control)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			failures++ // an ICMP error of an earlier answer, most likely: not ours to mind
			restAfter(ctx, failures)
			continue
		}
		failures = 0
		snapshot := s.snapshot()
		request, source, ok := unproxied(snapshot.Policy(), packet[:n], from.Addr())
		if !ok {
			worker.tally.ignored(UDP)
			continue
		}
		reply := worker.Respond(snapshot, Request{Packet: request, Source: source, Now: time.Now(), Seed: rand.Uint64()}, room)
		if len(reply) > 0 {
			anyInterface(control[:oobn])
			_, _, _ = conn.WriteMsgUDPAddrPort(reply, control[:oobn], from) // lost answers are asked for again
		}
	}
}

// A socket that fails so many times in a row, with nothing in between, is left alone for a while after each further time.
const (
	failuresMinded = 100
	failureRest    = 10 * time.Millisecond
)

// restAfter waits when a socket does not stop to fail.
func restAfter(ctx context.Context, failures int) {
	if failures <= failuresMinded {
		runtime.Gosched()
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(failureRest):
	}
}

// anyInterface takes the interface out of a control message with packet information, so that an
// answer is routed like everything else: the way back need not be the way in. A link-local address
// keeps it, for it means nothing without.
func anyInterface(control []byte) {
	const address, v6Index = 16, 20 // octets of an IPv6 address, and of it with the interface behind
	start := unix.CmsgLen(0)
	switch size := len(control) - start; {
	case size >= v6Index:
		a := netip.AddrFrom16([16]byte(control[start : start+address]))
		if !a.IsLinkLocalUnicast() && !a.IsLinkLocalMulticast() {
			clear(control[start+address : start+v6Index])
		}
	case size >= unix.SizeofInet4Pktinfo:
		clear(control[start : start+4]) // it comes first there
	}
}
