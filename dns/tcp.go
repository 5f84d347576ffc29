package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// tcpIdle is how long a connection may be silent before it is closed (RFC 7766 section 6.2.3).
	tcpIdle = 10 * time.Second
	// tcpWrite is how long a client may take to accept an answer.
	tcpWrite = 5 * time.Second
	// tcpConnections bounds the connections on one address; more are closed at once.
	tcpConnections = 4096
	// acceptRetry is how long no connection is taken after one could not be.
	acceptRetry = 10 * time.Millisecond
)

// serveTCP answers on every connection that comes in, until the listener is closed.
func (s *Server) serveTCP(ctx context.Context, l net.Listener) {
	room := make(chan struct{}, tcpConnections)
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(acceptRetry): // out of descriptors, most likely: some will come free
			}
			continue
		}
		select {
		case room <- struct{}{}:
			connections.Go(func() {
				defer func() { <-room }()
				s.serveConn(ctx, conn)
			})
		default:
			_ = conn.Close()
		}
	}
}

// serveConn answers the requests of one connection in the order in which they come (RFC 7766
// section 6.2.1), until the client closes it, falls silent or sends what is no request.
func (s *Server) serveConn(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	source := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()
	var packet, framed []byte
	for {
		if conn.SetReadDeadline(time.Now().Add(tcpIdle)) != nil {
			return
		}
		var err error
		if packet, err = readMessage(conn, packet); err != nil {
			return
		}
		snapshot := s.snapshot()
		req := Request{Packet: packet, Source: source, Stream: true, Now: time.Now(), Seed: rand.Uint64()}
		if messages := s.responder.Transfer(snapshot, req); messages != nil {
			for message := range messages {
				framed = append(append(framed[:0], 0, 0), message...)
				if !send(conn, framed) {
					return
				}
			}
			continue
		}
		if framed = s.responder.Respond(snapshot, req, append(framed[:0], 0, 0)); !send(conn, framed) {
			return
		}
	}
}

// send writes a message, in front of which two octets are left for its length. An empty one is for what was no
// request.
func send(conn net.Conn, framed []byte) bool {
	length := len(framed) - 2
	if length == 0 || conn.SetWriteDeadline(time.Now().Add(tcpWrite)) != nil {
		return false
	}
	binary.BigEndian.PutUint16(framed, uint16(length))
	_, err := conn.Write(framed)
	return err == nil
}

// readMessage reads one message behind its length of two octets (RFC 1035 section 4.2.2), into the
// buffer, which grows only as the octets come: a great length is quickly claimed.
func readMessage(r io.Reader, buffer []byte) ([]byte, error) {
	const step = 512
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(length[:]))
	buffer = buffer[:0]
	for len(buffer) < n {
		at := len(buffer)
		buffer = slices.Grow(buffer, min(n-at, max(at, step)))
		buffer = buffer[:min(n, cap(buffer))]
		if _, err := io.ReadFull(r, buffer[at:]); err != nil {
			return nil, err
		}
	}
	return buffer, nil
}
