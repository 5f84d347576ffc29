package rpki

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// Times that bound what a cache can keep us waiting for.
const (
	dialTimeout   = 10 * time.Second
	answerTimeout = time.Minute
	firstRetry    = time.Second
	lastRetry     = time.Minute
)

// newest is the version of the protocol that is spoken (RFC 8210) unless the cache speaks an older one (RFC 6810).
const newest = 1

// client keeps the VRPs of one cache, by the RPKI-to-Router protocol. What a cache said last stays when it is lost,
// until it has expired by the cache's own word.
type client struct {
	address string
	log     *slog.Logger
	changed func()

	// owned by the goroutine of run
	version byte
	session uint16
	serial  *uint32 // nil: nothing is known, ask for everything
	vrps    map[VRP]bool
	timing  timing

	mu      sync.Mutex
	latest  []VRP     // nil: nothing is known
	state   string    // in words
	updated time.Time // when the cache last said that what we have is all
}

// newClient makes a client of the cache at a host and port, which calls changed when its VRPs change.
func newClient(address string, log *slog.Logger, changed func()) *client {
	return &client{
		address: address, log: log.With("cache", address), changed: changed,
		version: newest, timing: defaultTiming, vrps: map[VRP]bool{}, state: "connecting",
	}
}

// run follows the cache until ctx ends.
func (c *client) run(ctx context.Context) {
	retry := firstRetry
	for {
		begin := time.Now()
		err := c.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begin) > lastRetry {
			retry = firstRetry
		}
		if c.turn("lost: " + err.Error()) {
			c.log.Warn("rpki cache lost: what it said stays until it expires", "cause", err)
		}
		c.expire()
		if !pause(ctx, retry) {
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// turn sets the state in words, and tells whether it is another than before.
func (c *client) turn(state string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.state
	c.state = state
	return state != before
}

// expire drops what has not been confirmed for too long: it would call good routes invalid.
func (c *client) expire() {
	c.mu.Lock()
	old := c.latest != nil && time.Since(c.updated) > c.timing.expire
	c.mu.Unlock()
	if old {
		c.log.Warn("rpki cache expired: its routes are no longer judged")
		c.serial, c.vrps = nil, map[VRP]bool{}
		c.publish(nil)
	}
}

func (c *client) publish(vrps []VRP) {
	c.mu.Lock()
	c.latest = vrps
	c.mu.Unlock()
	c.changed()
}

// follow talks to the cache on one connection, until it breaks.
func (c *client) follow(ctx context.Context) error {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	for {
		if err := c.sync(conn); err != nil {
			c.serial = nil // a cache that began anew may refuse to go on from it, in whatever way
			complain(conn, c.version, err)
			return err
		}
		if err := c.await(conn); err != nil {
			return err
		}
	}
}

// errOtherVersion asks for a new connection, on which an older version is spoken.
var errOtherVersion = errors.New("it speaks another version of the protocol")

// complain tells the cache what it did wrong, if that is what the error says (RFC 8210 section 12).
func complain(conn net.Conn, version byte, err error) {
	if wrong, ok := errors.AsType[wrong](err); ok {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // the connection ends either way
		_, _ = conn.Write(wrong.report(version))
	}
}

// sync asks for what is new, and takes it in whole.
func (c *client) sync(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return err
	}
	if _, err := conn.Write(query(c.version, c.session, c.serial)); err != nil {
		return err
	}
	var vrps map[VRP]bool // nil until the answer begins
	for {
		p, err := readPDU(conn)
		if err != nil {
			return err
		}
		if p.kind == errorReport {
			return c.failed(p)
		}
		if err := c.settle(p, vrps != nil); err != nil {
			return err
		}
		switch {
		case p.kind == cacheReset && c.serial != nil && vrps == nil: // it cannot tell the difference: start over
			c.serial = nil
			if _, err := conn.Write(query(c.version, 0, nil)); err != nil {
				return err
			}
		case p.kind == endOfData && vrps == nil:
			return errNoResponse
		case p.kind == endOfData:
			return c.complete(p, vrps)
		default:
			if vrps, err = c.take(p, vrps); err != nil {
				return err
			}
		}
	}
}

// errNoResponse says that a cache does not begin its answer as it should.
var errNoResponse = wrong{code: corruptData, text: "it answers without a cache response"}

// settle agrees on the version of a cache that answers in an older one than it was asked in (RFC 8210 section 7). From
// then on it has to keep to that. Serial Notify may come before anything is agreed on.
func (c *client) settle(p pdu, begun bool) error {
	switch {
	case p.version == c.version || p.kind == serialNotify:
		return nil
	case p.version < c.version && !begun:
		c.version = p.version
		return nil
	}
	return p.wrong(unexpectedVersion, "a message of version %d", p.version)
}

// take takes in one message of an answer, and gives the VRPs with it.
func (c *client) take(p pdu, vrps map[VRP]bool) (map[VRP]bool, error) {
	switch p.kind {
	case serialNotify, routerKey:
	case cacheResponse:
		return c.begin(p, vrps != nil)
	case ipv4Prefix, ipv6Prefix:
		v, announce, err := p.vrp()
		switch {
		case err != nil:
			return nil, err
		case vrps == nil:
			return nil, errNoResponse
		case announce && len(vrps) == maxVRPs:
			return nil, errTooMany
		case announce:
			vrps[v] = true
		case !vrps[v]: // so what it takes for known is not what is
			return nil, p.wrong(unknownWithdrawal, "it withdraws %s of AS%d, which it has not announced", v.Prefix, v.ASN)
		default:
			delete(vrps, v)
		}
	case cacheReset:
		return nil, p.wrong(corruptData, "it cannot answer a query for everything")
	default:
		return nil, p.wrong(unsupportedType, "a message of type %d", p.kind)
	}
	return vrps, nil
}

// begin gives the VRPs that an answer begins with: none when everything was asked for. What changed is told in the
// session that was asked about: in another one (RFC 8210 section 5.1) it would be taken for changes of something else,
// or for all there is.
func (c *client) begin(p pdu, begun bool) (map[VRP]bool, error) {
	switch {
	case begun:
		return nil, p.wrong(corruptData, "it begins its answer twice")
	case c.serial == nil:
		c.session = p.session
		return map[VRP]bool{}, nil
	case p.session != c.session:
		return nil, p.wrong(corruptData, "it tells of changes in session %d, asked about session %d", p.session, c.session)
	}
	return maps.Clone(c.vrps), nil
}

// complete takes over what a cache has sent to the end.
func (c *client) complete(p pdu, vrps map[VRP]bool) error {
	serial, t, err := p.end()
	switch {
	case err != nil:
		return err
	case p.session != c.session:
		return p.wrong(corruptData, "it ends session %d, having begun session %d", p.session, c.session)
	}
	same := maps.Equal(vrps, c.vrps)
	c.serial, c.timing, c.vrps = &serial, t, vrps
	c.mu.Lock()
	first := c.latest == nil
	c.updated = time.Now()
	c.mu.Unlock()
	if c.turn("in step") {
		c.log.Info("rpki cache in step", "vrps", len(vrps))
	}
	if !same || first {
		c.publish(slices.AppendSeq([]VRP{}, maps.Keys(vrps)))
	}
	return nil
}

// failed makes an error of the cache's report. One about the version leads to the older one, and from the oldest back
// to the newest: a cache may have learned since, and unlearned what it spoke.
func (c *client) failed(p pdu) error {
	if p.session != unsupportedVersion {
		return fmt.Errorf("it reports error %d", p.session)
	}
	if c.version == 0 {
		c.version = newest + 1
	}
	c.version--
	return errOtherVersion
}

// await waits until the cache has something new, or should be asked.
func (c *client) await(conn net.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(c.timing.refresh)); err != nil {
		return err
	}
	for {
		p, err := readPDU(conn)
		var late net.Error
		switch {
		case errors.As(err, &late) && late.Timeout():
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("it closed the connection")
		case err != nil:
			return err
		case p.kind == serialNotify:
			return nil
		case p.kind == errorReport:
			return c.failed(p)
		}
	}
}
