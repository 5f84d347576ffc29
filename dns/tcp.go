package dns

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
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
)

// serveTCP answers on every connection that comes in, until the listener is closed. Where there is a config, TLS is
// spoken inside.
func (s *Server) serveTCP(ctx context.Context, l net.Listener, secure *tls.Config) {
	h := s.hall(ctx, l, tcpConnections, tcpPerSource)
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		conn, err := h.Accept()
		if err != nil {
			return
		}
		connections.Go(func() { s.serveConn(ctx, conn.(*visitor), secure) })
	}
}

const (
	// tcpReplies is how many octets of replies are gathered while more requests have come already.
	tcpReplies = 16 << 10
	// tcpBuffer is how many octets each buffer of a connection has at most while it waits.
	tcpBuffer = 2048
)

// connection is one client's connection. Requests that come together are answered together (RFC 7766 section
// 6.2.1.1), by one system call.
type connection struct {
	server  *Server
	conn    net.Conn // of the visitor, or TLS on it
	visitor *visitor
	over    Transport
	reader  *bufio.Reader
	packet  []byte // the request that is being answered
	replies []byte // that are to be sent, each behind its length
}

// serveConn answers the requests of one connection in the order in which they come, until the client closes it,
// falls silent or sends what is no request.
func (s *Server) serveConn(ctx context.Context, v *visitor, secure *tls.Config) {
	stop := context.AfterFunc(ctx, v.hangUp)
	defer stop()
	c := &connection{server: s, conn: v, visitor: v, over: TCP}
	if secure != nil {
		v.readAhead()
		c.conn, c.over = tls.Server(v, secure), TLS
	}
	defer c.conn.Close()
	c.reader = bufio.NewReaderSize(c.conn, tcpBuffer)
	for c.next() && c.answer() {
	}
	_ = c.flush() // what was asked before the client closed its side
}

// next reads the next request. It sends what there is before it waits for one, for which it keeps no large
// buffers. The time is also for what TLS has to send before, which is its handshake.
func (c *connection) next() (ok bool) {
	if !c.more() || len(c.replies) > tcpReplies {
		if c.flush() != nil || c.conn.SetDeadline(time.Now().Add(tcpIdle)) != nil {
			return false
		}
		c.packet, c.replies = small(c.packet), small(c.replies)
	}
	var err error
	c.packet, err = readMessage(c.reader, c.packet)
	return err == nil
}

// small is a buffer to be used again, if it is not large: there are thousands of connections, and long messages
// are rare.
func small(buffer []byte) []byte {
	if cap(buffer) > tcpBuffer {
		return nil
	}
	return buffer
}

// more tells whether the next request has come already. TLS gives but one record at a time, also where several have come:
// so it is asked for more, of what there is.
func (c *connection) more() bool {
	if c.over != TLS || len(c.replies) == 0 {
		return c.whole()
	}
	c.visitor.hasty = true
	defer func() { c.visitor.hasty = false }()
	for !c.whole() {
		if _, err := c.reader.Peek(c.reader.Buffered() + 1); err != nil {
			return false // an error of the connection comes again
		}
	}
	return true
}

// whole tells whether the next request has been read already.
func (c *connection) whole() bool {
	if c.reader.Buffered() < 2 {
		return false
	}
	length, err := c.reader.Peek(2)
	return err == nil && c.reader.Buffered() >= 2+int(binary.BigEndian.Uint16(length))
}

// answer answers the request that was read. It gives false for what is none, and when the client is gone.
func (c *connection) answer() (ok bool) {
	snapshot, now := c.server.snapshot(), time.Now()
	c.visitor.guest.heardAt(now)
	req := Request{Packet: c.packet, Source: c.visitor.source, Over: c.over, Now: now, Seed: rand.Uint64()}
	if messages := c.server.responder.Transfer(snapshot, req); messages != nil {
		for message := range inTime(messages) {
			if len(message) == 0 {
				return false
			}
			c.replies = append(binary.BigEndian.AppendUint16(c.replies, uint16(len(message))), message...)
			if c.flush() != nil {
				return false
			}
		}
		return true
	}
	start := len(c.replies)
	c.replies = c.server.responder.Respond(snapshot, req, append(c.replies, 0, 0))
	length := len(c.replies) - start - 2
	if length == 0 {
		c.replies = c.replies[:start]
		return false
	}
	binary.BigEndian.PutUint16(c.replies[start:], uint16(length))
	return true
}

// flush sends the replies.
func (c *connection) flush() error {
	if len(c.replies) == 0 {
		return nil
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(tcpWrite)); err != nil {
		return err
	}
	_, err := c.conn.Write(c.replies)
	c.replies = c.replies[:0]
	return err
}

// readMessage reads one message behind its length of two octets (RFC 1035 section 4.2.2), into the
// buffer, which grows only as the octets come: a great length is quickly claimed. Of one that is longer than a request
// can be the rest is thrown away.
func readMessage(r io.Reader, buffer []byte) ([]byte, error) {
	const step = 512
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	whole := int(binary.BigEndian.Uint16(length[:]))
	n := min(whole, requestSize+1)
	buffer = buffer[:0]
	for len(buffer) < n {
		at := len(buffer)
		buffer = slices.Grow(buffer, min(n-at, max(at, step)))
		buffer = buffer[:min(n, cap(buffer))]
		if _, err := io.ReadFull(r, buffer[at:]); err != nil {
			return nil, err
		}
	}
	if _, err := io.CopyN(io.Discard, r, int64(whole-n)); err != nil {
		return nil, err
	}
	return buffer, nil
}
