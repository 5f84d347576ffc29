// Package doq answers the question of QUIC's envelope: which DNS message does a stream carry, and how do its answers go
// back (RFC 9250)?
//
// Its nouns are the connection, the stream with one message, and the replies. It knows nothing of what is in them:
//
//	s := doq.Server{TLS: config, Enter: enter, Longest: 4096, Idle: 10 * time.Second}
//	err := s.Run(ctx, socket)
//
// It takes nothing before the handshake is done (0-RTT), so that nothing can be replayed, and speaks nothing but DNS.
// It is the only package that knows QUIC's library.
package doq

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
)

// The error codes of RFC 9250 section 8.4 that we have a use for.
const (
	noError          = 0x0
	protocolError    = 0x2
	requestCancelled = 0x3
	excessiveLoad    = 0x4
	unspecifiedError = 0x5
)

const (
	// streams is how many requests one connection may have under way.
	streams = 100
	// connectionWindow is how many octets of requests may be on their way to us in one connection.
	connectionWindow = 64 << 10
	// tellingTime is how much longer a connection lives than a message may take to come, so that the end of the message is told
	// on its stream.
	tellingTime = time.Second
)

// errFull refuses a connection.
var errFull = errors.New("too many connections")

// Server answers DNS messages that come by QUIC. It is not changed once it runs.
type Server struct {
	TLS   *tls.Config // without protocols: it is doq
	Enter Enter

	Longest     int           // octets of a message; of a longer one Longest+1 are given
	Idle        time.Duration // for which a connection may be silent, and a message may take to come
	Write       time.Duration // that a client may take to accept a reply
	Connections int           // with those that are not made yet; further ones are refused
	Trusting    int           // connections, likewise, above which a newcomer has to show first that its address is its own (RFC 9000 section 8.1.2)
}

// Enter lets a connection in. It may be told to hang up at any time, which waits for nobody.
type Enter func(source netip.Addr, hangUp func()) Visit

// Visit is a connection that was let in.
type Visit struct {
	// Answer gives the replies to a message; nil for what no client may send. It is called for many messages at a time.
	Answer func(source netip.Addr, message []byte) iter.Seq[[]byte]
	Leave  func() // is called at the end
}

// Run answers what comes by the socket, which it closes, until ctx ends. It returns when nothing is answered any more.
func (s *Server) Run(ctx context.Context, socket *net.UDPConn) error {
	defer socket.Close()
	var open atomic.Int64
	transport := &quic.Transport{
		Conn:                socket,
		VerifySourceAddress: func(net.Addr) bool { return open.Load() >= int64(s.Trusting) },
		ConnContext: func(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
			if open.Add(1) > int64(s.Connections) {
				open.Add(-1)
				return nil, errFull
			}
			context.AfterFunc(ctx, func() { open.Add(-1) })
			return ctx, nil
		},
	}
	defer transport.Close()
	config := s.TLS.Clone()
	config.MinVersion, config.NextProtos = tls.VersionTLS13, []string{"doq"}
	listener, err := transport.Listen(config, &quic.Config{
		HandshakeIdleTimeout:           s.Idle / 2, // and twice that for all of it
		MaxIdleTimeout:                 s.Idle + tellingTime,
		InitialStreamReceiveWindow:     uint64(2 * s.Longest),
		MaxStreamReceiveWindow:         uint64(2 * s.Longest),
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     connectionWindow,
		MaxIncomingStreams:             streams,
		MaxIncomingUniStreams:          -1,
	})
	if err != nil {
		return fmt.Errorf("serve QUIC: %w", err)
	}
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		conn, err := listener.Accept(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("serve QUIC: %w", err)
		}
		connections.Go(func() { s.serve(ctx, conn, &connections) })
	}
}

// serve answers the streams of one connection until it ends.
func (s *Server) serve(ctx context.Context, conn *quic.Conn, crew *sync.WaitGroup) {
	visit := s.Enter(address(conn), func() {
		crew.Go(func() { _ = conn.CloseWithError(excessiveLoad, "") })
	})
	defer visit.Leave()
	var answering sync.WaitGroup
	defer answering.Wait()
	for {
		stream, err := conn.AcceptStream(ctx)
		if err != nil {
			_ = conn.CloseWithError(noError, "") // so that no stream is waited for
			return
		}
		answering.Go(func() {
			if !s.answer(conn, stream, visit) {
				_ = conn.CloseWithError(protocolError, "")
			}
		})
	}
}

func address(conn *quic.Conn) netip.Addr {
	a, _ := netip.AddrFromSlice(conn.RemoteAddr().(*net.UDPAddr).IP)
	return a.Unmap()
}

// answer answers the one message of a stream. It gives false for what ends the connection (RFC 9250 section 4.3.3).
func (s *Server) answer(conn *quic.Conn, stream *quic.Stream, visit Visit) (ok bool) {
	_ = stream.SetReadDeadline(time.Now().Add(s.Idle)) // fails for no stream that is open
	message, err := readMessage(stream, s.Longest)
	var reset *quic.StreamError
	switch {
	case errors.Is(err, errProtocol):
		return false
	case errors.As(err, &reset):
		stream.CancelWrite(requestCancelled)
		return true
	case err != nil: // too slow, or the connection is gone
		stream.CancelRead(unspecifiedError)
		stream.CancelWrite(unspecifiedError)
		return true
	}
	replies := visit.Answer(address(conn), message)
	if replies == nil {
		return false
	}
	for reply := range replies {
		if len(reply) == 0 { // it cannot go on
			stream.CancelWrite(unspecifiedError)
			return true
		}
		_ = stream.SetWriteDeadline(time.Now().Add(s.Write))
		if _, err := stream.Write(framed(reply)); err != nil {
			stream.CancelWrite(requestCancelled) // what was not accepted is not kept for it
			return true
		}
	}
	_ = stream.Close()
	return true
}

// framed is a message behind its length (RFC 9250 section 4.2).
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(message)), uint16(len(message))), message...)
}

// errProtocol is a stream that is not one message behind its length, and its end.
var errProtocol = errors.New("not one message")

// readMessage reads the one message of a stream, to the stream's end. It keeps memory for what has come only, and one
// octet more than longest at most.
func readMessage(r io.Reader, longest int) (message []byte, err error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, tooShort(err)
	}
	n := int(binary.BigEndian.Uint16(length[:]))
	keep := min(n, longest+1)
	for len(message) < keep {
		at := len(message)
		message = slices.Grow(message, min(keep-at, max(at, 512)))
		message = message[:min(keep, cap(message))]
		if _, err := io.ReadFull(r, message[at:]); err != nil {
			return nil, tooShort(err)
		}
	}
	left := int64(n - keep)
	switch rest, err := io.Copy(io.Discard, io.LimitReader(r, left+1)); {
	case err != nil:
		return nil, err
	case rest != left:
		return nil, errProtocol
	}
	return message, nil
}

// tooShort tells a stream that has ended from one that has not come.
func tooShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errProtocol
	}
	return err
}
