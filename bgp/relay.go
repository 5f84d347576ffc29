package bgp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// How long the relay waits for what.
const (
	dialTimeout  = 15 * time.Second       // for the peer to accept a connection
	reachTimeout = 30 * time.Second       // for the speaker to open a session whose peer is connected
	takeTimeout  = 300 * time.Millisecond // for it to accept one connection: the kernel does at once, or a key is not set yet
	greetTimeout = 5 * time.Second        // for its OPEN on one connection
	reachAgain   = 250 * time.Millisecond
	keyPeriod    = 5 * time.Second // between readings of the password of a peer that we wait for
	backoffLeast = time.Second
	backoffMost  = 2 * time.Minute
	sound        = time.Minute // a session that was established for so long begins the backoff anew
)

// notReady is what stands in a peer's way while there is no speaker.
const notReady = "the speaker is not ready"

// relay holds the connections of one peer, one at a time, and pairs each with one to the speaker.
//
// Of colliding connections the first that stands is kept and every other closed before a byte of BGP,
// so that the identifiers never need to be compared (RFC 4271 section 6.8 compares them to reach
// the same). Two ends that close each other's connection by such a rule meet again after backoffs
// that are drawn at random. In two cases the new connection replaces the old one: when the session is
// established and the peer announced graceful restart (RFC 4724 section 4.2), and when the old one has
// led to no session for openPatience.
type relay struct {
	peer     Peer
	loopback netip.Addr // from here the relay connects to the speaker, which knows the peer by it
	secret   string     // that signs these connections; "": nothing does
	gate     *gate
	call     func(ctx context.Context, port uint16) (net.Conn, error) // connects to the speaker
	sign     func(password string) error                              // gives the listeners the peer's key
	log      *slog.Logger

	offers chan net.Conn // one slot: the newest connection that the peer opened
	orders chan ending   // one slot: the newest wish to end the session
	done   chan struct{} // closed when run returns

	// Owned by run.
	until time.Time // the peer is left alone so long
	told  string    // the trouble that the log holds
	damp  damper    // of the connections that the peer opens

	*record
}

func newRelay(peer Peer, loopback netip.Addr, secret string, g *gate, sign func(string) error, log *slog.Logger) *relay {
	r := &relay{
		peer:     peer,
		loopback: loopback,
		secret:   secret,
		gate:     g,
		sign:     sign,
		log:      log.With("partner", peer.Partner, "peer", peer.Address),
		offers:   make(chan net.Conn, 1),
		orders:   make(chan ending, 1),
		done:     make(chan struct{}),
		record:   newRecord(peer),
	}
	r.call = r.callSpeaker
	return r
}

// run keeps the peer connected until ctx ends, whose cause the peer is told.
func (r *relay) run(ctx context.Context) {
	defer r.refuse()
	defer close(r.done)
	defer r.sign("") // the listener may be gone, and its keys with it
	for {
		port, over := r.gate.now()
		if port == 0 {
			r.state(Idle, notReady)
			if !r.rest(ctx, over) {
				return
			}
			r.solved(notReady)
			continue
		}
		life, end := context.WithCancelCause(ctx)
		var watch sync.WaitGroup
		watch.Go(func() {
			select {
			case <-over:
				end(speakerGone())
			case <-life.Done():
			}
		})
		r.serve(life, port)
		end(nil)
		watch.Wait()
		if ctx.Err() != nil {
			return
		}
	}
}

// serve holds one connection after the other for as long as the speaker lives.
func (r *relay) serve(ctx context.Context, port uint16) {
	wait := backoff{least: backoffLeast, most: backoffMost}
	var delay time.Duration
	for r.rest(ctx, nil) {
		conn, err := r.connect(ctx, delay)
		var e farewell
		switch {
		case conn != nil:
			e = r.hold(ctx, conn, port)
		case err != nil:
			e = missed(err)
		}
		if ctx.Err() != nil {
			return
		}
		if e.lasted > 0 {
			r.told = "" // the end of the session is in the log
			r.state(Idle, e.text)
		} else if e.text != "" {
			r.trouble(e.text)
		}
		if e.lasted >= sound {
			wait.reset()
		}
		delay = wait.next()
		if e.resume {
			delay = 0
		}
		if e.pause > 0 {
			r.alone(e.pause)
		}
	}
}

// trouble notes what keeps the peer from a session, in the log only once.
func (r *relay) trouble(cause string) {
	r.state(Idle, cause)
	if cause != r.told {
		r.told = cause
		r.log.Warn("no session", "cause", cause)
	}
}

// missed is the farewell of an attempt that came to no connection.
func missed(err error) farewell {
	if _, ours := errors.AsType[ending](err); ours {
		return ended(err)
	}
	return farewell{text: err.Error()}
}

// alone leaves the peer alone for so long from now on.
func (r *relay) alone(d time.Duration) {
	r.until = time.Now().Add(d)
	r.paused(r.until, "")
}

// rest refuses connections as long as the peer is to be left alone, and until the channel is closed
// unless that is nil. It tells whether that came before the end of ctx.
func (r *relay) rest(ctx context.Context, over <-chan struct{}) bool {
	for over != nil || time.Now().Before(r.until) {
		timer := time.NewTimer(time.Until(r.until))
		expired := timer.C
		if over != nil {
			expired = nil
		}
		select {
		case <-ctx.Done():
		case <-over:
			over = nil
		case <-expired:
		case c := <-r.offers:
			abort(c)
		case o := <-r.orders:
			r.alone(o.pause)
		}
		timer.Stop()
		if ctx.Err() != nil {
			return false
		}
	}
	return ctx.Err() == nil
}

// offer takes a connection that the peer opened; signed tells whether it had to be signed with the
// peer's key.
func (r *relay) offer(conn net.Conn, signed bool) {
	if r.peer.PasswordFile != "" && !signed {
		abort(conn)
		return
	}
	for {
		select {
		case r.offers <- conn:
			select {
			case <-r.done:
				r.refuse()
			default:
			}
			return
		default:
			r.refuse()
		}
	}
}

// refuse closes the connection that waits in the slot, if one does.
func (r *relay) refuse() {
	select {
	case c := <-r.offers:
		abort(c)
	default:
	}
}

// order has the session ended. The newest order holds. A pause shows from here on: to part from the peer
// takes a moment.
func (r *relay) order(e ending) {
	if e.pause > 0 {
		r.paused(time.Now().Add(e.pause), e.text)
	}
	for {
		select {
		case r.orders <- e:
			return
		case <-r.orders:
		}
	}
}
