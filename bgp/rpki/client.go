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

// Client keeps the VRPs of one cache, by the RPKI-to-Router protocol, version 1 (RFC 8210) or, when
// the cache speaks no other, 0 (RFC 6810). What a cache said last stays when it is lost, until it
// has expired by the cache's own word.
type Client struct {
	address string
	log     *slog.Logger
	changed func()

	// owned by the goroutine of Run
	version byte
	session uint16
	serial  *uint32 // nil: nothing is known, ask for everything
	vrps    map[VRP]bool
	timing  timing

	mu      sync.Mutex
	latest  []VRP
	state   string    // in words
	updated time.Time // when the cache last said that what we have is all
}

// newClient makes a client of the cache at a host and port, which calls changed when its VRPs change.
func newClient(address string, log *slog.Logger, changed func()) *Client {
	return &Client{
		address: address, log: log.With("cache", address), changed: changed,
		version: 1, timing: defaultTiming, vrps: map[VRP]bool{}, state: "connecting",
	}
}

// run follows the cache until ctx ends.
func (c *Client) run(ctx context.Context) {
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
		c.told("lost: " + err.Error())
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

// told sets the state in words, and logs it when it is another.
func (c *Client) told(state string) {
	c.mu.Lock()
	same := c.state == state
	c.state = state
	c.mu.Unlock()
	if !same {
		c.log.Info("rpki cache " + state)
	}
}

// expire drops what has not been confirmed for too long: it would call good routes invalid.
func (c *Client) expire() {
	c.mu.Lock()
	old := c.latest != nil && time.Since(c.updated) > c.timing.expire
	c.mu.Unlock()
	if old {
		c.log.Warn("rpki cache expired: its routes are no longer judged")
		c.serial, c.vrps = nil, map[VRP]bool{}
		c.publish(nil)
	}
}

func (c *Client) publish(vrps []VRP) {
	c.mu.Lock()
	c.latest = vrps
	c.mu.Unlock()
	c.changed()
}

// follow talks to the cache on one connection, until it breaks.
func (c *Client) follow(ctx context.Context) error {
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
			return err
		}
		if err := c.await(conn); err != nil {
			return err
		}
	}
}

// errOtherVersion asks for a new connection, on which an older version is spoken.
var errOtherVersion = errors.New("it speaks another version of the protocol")

// sync asks for what is new, and takes it in whole.
func (c *Client) sync(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return err
	}
	if _, err := conn.Write(query(c.version, c.session, c.serial)); err != nil {
		return err
	}
	vrps := c.vrps
	for {
		p, err := readPDU(conn)
		if err != nil {
			return err
		}
		switch p.kind {
		case serialNotify, routerKey:
		case cacheResponse:
			if c.serial == nil || p.session != c.session {
				c.serial, vrps = nil, map[VRP]bool{}
			}
			c.session = p.session
			vrps = maps.Clone(vrps)
		case ipv4Prefix, ipv6Prefix:
			v, announce, err := p.vrp()
			if err != nil {
				return err
			}
			if announce {
				vrps[v] = true
			} else {
				delete(vrps, v)
			}
		case cacheReset: // it cannot tell the difference: start over
			c.serial = nil
			if _, err := conn.Write(query(c.version, 0, nil)); err != nil {
				return err
			}
		case endOfData:
			return c.complete(p, vrps)
		case errorReport:
			return c.failed(p)
		default:
			return fmt.Errorf("a message of type %d", p.kind)
		}
	}
}

// complete takes over what a cache has sent to the end.
func (c *Client) complete(p pdu, vrps map[VRP]bool) error {
	serial, t, err := p.end()
	if err != nil {
		return err
	}
	same := maps.Equal(vrps, c.vrps)
	c.serial, c.timing, c.vrps = &serial, t, vrps
	c.mu.Lock()
	first := c.latest == nil
	c.updated = time.Now()
	c.mu.Unlock()
	c.told(fmt.Sprintf("in step: %d VRPs", len(vrps)))
	if !same || first {
		c.publish(append([]VRP{}, slices.Collect(maps.Keys(vrps))...))
	}
	return nil
}

// failed makes an error of the cache's report. One about the version leads to the older one.
func (c *Client) failed(p pdu) error {
	if p.session == unsupportedVersion && c.version > 0 {
		c.version--
		return errOtherVersion
	}
	return fmt.Errorf("it reports error %d", p.session)
}

// await waits until the cache has something new, or should be asked.
func (c *Client) await(conn net.Conn) error {
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
