package bgp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gslb/bgp/screen"
	"gslb/bgp/wire"
)

// How long a link waits for what.
const (
	openTimeout  = 4 * time.Minute  // for the session to be established: the hold time before OPENs (RFC 4271 section 8.2.2)
	openPatience = 10 * time.Second // for the same, before another connection of the peer takes the place
	sendHold     = 8 * time.Minute  // for the peer to take what we write (RFC 9687)
	speakerStall = time.Minute      // for the speaker to take what we write
	lastWords    = time.Second      // for what is under way when the link ends, and for the peer to read why
	linkBuffer   = 64 << 10         // octets read or written at once; more than any message
)

// Where a message tells its type, and types (RFC 4271 section 4.1).
const (
	typeOfMessage = 18
	typeOpen      = 1
	typeKeepalive = 4
)

// farewell is how an attempt to connect, or a link, ended.
type farewell struct {
	text   string
	notify []byte        // the NOTIFICATION that the peer is to get
	will   bool          // it was the partner's will
	weak   bool          // the other direction may know better why
	ours   bool          // the speaker was told to end it: the cause of the context is about to come, and knows better
	lasted time.Duration // for which the session was established
	pause  time.Duration // for which the peer is left alone
	resume bool          // it is to connect again at once
}

// link is one connection of the peer, paired with one to the speaker. What comes from the peer passes
// the screen message by message; what comes from the speaker passes as it is. Each direction is a
// goroutine that holds one message at a time, so a slow reader slows its writer and fills no memory.
type link struct {
	relay   *relay
	peer    net.Conn
	speaker net.Conn
	voice   *bufio.Reader // of the speaker; its OPEN is the next message in it
	ours    screen.Offer

	kept        atomic.Uint32            // directions that a KEEPALIVE passed: bits byPeer, bySpeaker
	goodbye     atomic.Pointer[farewell] // by the peer's NOTIFICATION; the speaker may close before inbound returns it
	established chan struct{}            // closed once both are set

	mu   sync.Mutex
	over bool // the deadlines are those of the end
}

const (
	byPeer = 1 << iota
	bySpeaker
	byBoth = byPeer | bySpeaker
)

// hold carries the session of a connection that stands, until it ends.
func (r *relay) hold(ctx context.Context, conn net.Conn, port uint16) farewell {
	r.stands(conn)
	defer r.stands(nil)
	r.state(Open, "")
	l, err := r.reach(ctx, conn, port)
	if err != nil {
		e := farewell{text: err.Error(), notify: cease(ceaseResources)}
		if ctx.Err() != nil {
			e = ended(context.Cause(ctx))
		}
		part(conn, e.notify)
		return e
	}
	return l.carry(ctx)
}

// reach opens the link: it has the speaker begin a session for the peer. The speaker may need a moment
// to be done with the last one.
func (r *relay) reach(ctx context.Context, conn net.Conn, port uint16) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	for {
		l, err := r.greet(ctx, conn, port)
		if err == nil {
			return l, nil
		}
		pause(ctx, reachAgain)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("the speaker begins no session: %w", err)
		}
	}
}

// greet connects to the speaker and waits for its OPEN. It does not wait long: a connection that comes while
// the speaker clears up the session before may be accepted and then forgotten.
func (r *relay) greet(ctx context.Context, conn net.Conn, port uint16) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	speaker, err := r.call(ctx, port)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = speaker.SetReadDeadline(time.Unix(1, 0)) }) // ends the read below
	defer stop()
	l := &link{relay: r, peer: conn, speaker: speaker, voice: bufio.NewReaderSize(speaker, linkBuffer), established: make(chan struct{})}
	if l.ours, err = offered(l.voice); err != nil {
		_ = speaker.Close()
		return nil, err
	}
	return l, nil
}

// offered reads the speaker's OPEN, and leaves it in the reader.
func offered(voice *bufio.Reader) (screen.Offer, error) {
	message, err := peek(voice, nil)
	if err != nil {
		return screen.Offer{}, err
	}
	if message[typeOfMessage] != typeOpen {
		return screen.Offer{}, errors.New("it does not begin with an OPEN")
	}
	ours, bad := screen.Open(message)
	if bad != nil {
		return screen.Offer{}, errors.New("its OPEN is malformed")
	}
	return ours, nil
}

// carry passes messages both ways until one side ends it, ctx does, an order comes or a connection
// that replaces this one.
func (l *link) carry(ctx context.Context) farewell {
	ends := make(chan farewell, 2)
	var both sync.WaitGroup
	both.Go(func() { ends <- l.inbound() })
	both.Go(func() { ends <- l.outbound() })
	e, since := l.watch(ctx, ends)
	if e.weak {
		l.limit(time.Now().Add(lastWords))
		if other := <-ends; !other.weak {
			e = other
		}
	}
	if e.ours {
		e = told(ctx, e)
	}
	if !since.IsZero() {
		e.lasted = time.Since(since)
	}
	l.limit(time.Unix(1, 0))
	_ = l.peer.SetWriteDeadline(time.Now().Add(lastWords)) // a message under way is best finished
	both.Wait()
	l.relay.ended(e) // before the speaker notices, so that its word of the loss finds the cause
	_ = l.speaker.Close()
	part(l.peer, e.notify)
	return e
}

// told gives the farewell that goes with what the speaker was told, unless that does not come.
func told(ctx context.Context, e farewell) farewell {
	pause(ctx, lastWords)
	if ctx.Err() != nil {
		return ended(context.Cause(ctx))
	}
	return e
}

// watch waits for the end, and tells since when the session was established, if it was.
func (l *link) watch(ctx context.Context, ends <-chan farewell) (e farewell, since time.Time) {
	begun := time.Now()
	opening := time.NewTimer(openTimeout)
	defer opening.Stop()
	established := l.established
	for {
		select {
		case e = <-ends:
			return e, since
		case <-ctx.Done():
			return ended(context.Cause(ctx)), since
		case o := <-l.relay.orders:
			return ended(o), since
		case c := <-l.relay.offers:
			if !l.yields(begun, since) {
				abort(c)
				continue
			}
			l.relay.offer(c, true)
			return ended(replaced()), since
		case <-established:
			established, since = nil, time.Now()
			opening.Stop()
		case <-opening.C:
			return farewell{text: "no session was established in " + openTimeout.String(), notify: holdExpired()}, since
		}
	}
}

// yields tells whether a new connection of the peer takes the place of this one: when the session is
// established and the peer announced graceful restart (RFC 4724 section 4.2), or when no session has come of this one
// for a while. The peer may have died before its OPEN, and would else be kept out until openTimeout.
func (l *link) yields(begun, since time.Time) bool {
	if since.IsZero() {
		return time.Since(begun) >= openPatience
	}
	return l.relay.show().Session.GracefulRestart
}

// ended is the farewell of a link that ends for a reason of ours.
func ended(cause error) farewell {
	e, ok := errors.AsType[ending](cause)
	if !ok {
		e = shutdown()
	}
	return farewell{text: e.text, notify: cease(e.subcode), pause: e.pause, resume: e.resume}
}

// inbound passes messages of the peer to the speaker, as the screen lets them.
func (l *link) inbound() farewell {
	in := bufio.NewReaderSize(l.peer, linkBuffer)
	out := bufio.NewWriterSize(l.speaker, linkBuffer)
	flush := func() error {
		if out.Buffered() == 0 {
			return nil
		}
		l.deadline(l.speaker.SetWriteDeadline, speakerStall)
		return out.Flush()
	}
	session := screen.Expect(l.ours)
	session.Own = own(l.peer)
	for {
		message, err := peek(in, flush)
		if err != nil {
			if stuck := out.Flush(); stuck != nil {
				return mute("the speaker", stuck)
			}
			return lost("the peer", err)
		}
		var verdict screen.Verdict
		verdict, session = session.Screen(message)
		l.relay.screened(verdict)
		if verdict.Notify != nil {
			return refused(verdict)
		}
		if _, err := out.Write(verdict.Forward); err != nil {
			return mute("the speaker", err)
		}
		if n, ok := screen.ReadNotification(message); ok {
			reason := notified(n, wire.Received)
			e := farewell{text: reasonText(reason), will: reason.Deliberate()}
			l.goodbye.Store(&e)
			_ = flush() // the speaker learns of the end either way
			return e
		}
		if message[typeOfMessage] == typeKeepalive {
			l.keep(byPeer)
		}
		_, _ = in.Discard(len(message)) // they are buffered
	}
}

// refused is the farewell of a peer whose message ends the session.
func refused(v screen.Verdict) farewell {
	n := *v.Notify
	text := reasonText(wire.Reason{Cause: wire.Sent, Code: n.Code, Subcode: n.Subcode, Text: v.Reason.String()})
	return farewell{text: text, notify: n.Message()}
}

// outbound passes messages of the speaker to the peer. To the speaker, a neighbour that is to be changed is
// one that leaves: what the peer is told of that is for us to say.
func (l *link) outbound() farewell {
	for {
		message, err := peek(l.voice, nil)
		if e := l.goodbye.Load(); err != nil && e != nil {
			return *e
		}
		if err != nil {
			return lost("the speaker", err)
		}
		n, last := screen.ReadNotification(message)
		if last && n.Code == wire.Cease && n.Subcode == ceaseDeconfigured {
			return farewell{text: reasonText(notified(n, wire.Sent)), notify: cease(ceaseDeconfigured), ours: true}
		}
		l.deadline(l.peer.SetWriteDeadline, sendHold)
		if _, err := l.peer.Write(message); err != nil {
			return mute("the peer", err)
		}
		if last {
			return farewell{text: reasonText(notified(n, wire.Sent))}
		}
		if message[typeOfMessage] == typeKeepalive {
			l.keep(bySpeaker)
		}
		_, _ = l.voice.Discard(len(message)) // they are buffered
	}
}

// lost is the farewell of a side whose connection ended without a NOTIFICATION.
func lost(side string, err error) farewell {
	if errors.Is(err, io.EOF) {
		return farewell{text: side + " closed the connection"}
	}
	ended := errors.Is(err, os.ErrDeadlineExceeded) // nothing but the end of the link limits reading
	return farewell{text: "the connection of " + side + " broke: " + bare(err), weak: ended}
}

// mute is the farewell of a side that takes nothing more. It may have said why.
func mute(side string, err error) farewell {
	return farewell{text: side + " takes nothing: " + bare(err), weak: true}
}

// bare is an error of a connection without the addresses, which the operator sees elsewhere.
func bare(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return err.Error()
}

// keep notes that a KEEPALIVE passed. The session is established when one went either way.
func (l *link) keep(by uint32) {
	if before := l.kept.Or(by); before != byBoth && before|by == byBoth {
		l.relay.state(Established, "")
		close(l.established)
	}
}

// deadline sets a deadline from now on, unless the link ends.
func (l *link) deadline(set func(time.Time) error, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		_ = set(time.Now().Add(d)) // a closed connection needs none
	}
}

// limit makes the moment the end of everything that the link does.
func (l *link) limit(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	_ = l.peer.SetDeadline(t)    // a closed connection needs none
	_ = l.speaker.SetDeadline(t) // as above
}

// peek gives the next message, which stays in the reader; only its header, when that can begin none.
// Before it waits it calls flush, unless that is nil.
func peek(in *bufio.Reader, flush func() error) ([]byte, error) {
	head, err := await(in, screen.HeaderLength, flush)
	if err != nil {
		return nil, err
	}
	length, bad := screen.Length(head)
	if bad != nil {
		return head, nil
	}
	return await(in, length, flush)
}

func await(in *bufio.Reader, n int, flush func() error) ([]byte, error) {
	if in.Buffered() < n && flush != nil {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return in.Peek(n)
}

// part tells the peer why and closes its connection. It goes on reading for a moment, since closing
// with octets unread would take the NOTIFICATION back.
func part(conn net.Conn, notification []byte) {
	defer conn.Close()
	if len(notification) == 0 {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(lastWords)) // a closed connection needs none
	if _, err := conn.Write(notification); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()            // it is closed for good below
		_, _ = io.Copy(io.Discard, conn) // until the peer closes, or the deadline
	}
}
