package rpki

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// message writes a PDU.
func message(version, kind byte, session uint16, body ...byte) []byte {
	b := []byte{version, kind, byte(session >> 8), byte(session)}
	b = binary.BigEndian.AppendUint32(b, uint32(pduHeader+len(body)))
	return append(b, body...)
}

func prefixMessage(version byte, announce bool, prefix string, most byte, asn uint32) []byte {
	p := netip.MustParsePrefix(prefix)
	kind, flags := byte(ipv4Prefix), byte(0)
	if p.Addr().Is6() {
		kind = ipv6Prefix
	}
	if announce {
		flags = 1
	}
	body := append([]byte{flags, byte(p.Bits()), most, 0}, p.Addr().AsSlice()...)
	return message(version, kind, 0, binary.BigEndian.AppendUint32(body, asn)...)
}

// end1 ends the data of version 1, with times in seconds.
func end1(session uint16, serial, refresh, retry, expire uint32) []byte {
	var body []byte
	for _, n := range []uint32{serial, refresh, retry, expire} {
		body = binary.BigEndian.AppendUint32(body, n)
	}
	return message(1, endOfData, session, body...)
}

// cache is a validator's cache that plays a script: for each query that it expects, what it answers.
type cache struct {
	t      *testing.T
	listen net.Listener
	script chan exchange
}

type exchange struct {
	want   []byte
	answer [][]byte
	hangup bool // closes the connection afterwards
}

func newCache(t *testing.T) *cache {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cache{t: t, listen: l, script: make(chan exchange, 16)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.serve(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); close(c.script); <-done })
	return c
}

func (c *cache) serve(conn net.Conn) {
	defer conn.Close()
	for x := range c.script {
		got := make([]byte, len(x.want))
		if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, x.want) {
			c.t.Errorf("asked %x (%v), want %x", got, err, x.want)
			return
		}
		for _, b := range x.answer {
			if _, err := conn.Write(b); err != nil {
				return
			}
		}
		if x.hangup {
			return
		}
	}
}

// followed runs a source on a cache, and gives a function that waits for a number of VRPs.
func followed(t *testing.T, from From) func(n int) *Set {
	s := NewSource(slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s.Apply(from)
	return func(n int) *Set {
		t.Helper()
		limit := time.After(20 * time.Second)
		for {
			select {
			case <-s.Changed():
				if set := s.Latest(); set != nil && set.Len() == n {
					return set
				}
			case <-limit:
				t.Fatalf("%d VRPs never came: %d, %+v", n, s.Latest().Len(), s.Views())
			}
		}
	}
}

func TestClientFollowsACache(t *testing.T) {
	c := newCache(t)
	serial := uint32(5)
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(1, cacheResponse, 77), prefixMessage(1, true, "203.0.112.0/20", 24, 64501), prefixMessage(1, true, "2001:db8::/32", 48, 64501),
		message(1, routerKey, 0, make([]byte, 60)...), end1(77, 5, 3600, 600, 7200), message(1, serialNotify, 77, 0, 0, 0, 6),
	}}
	c.script <- exchange{want: query(1, 77, &serial), answer: [][]byte{
		message(1, cacheResponse, 77), prefixMessage(1, false, "2001:db8::/32", 48, 64501), end1(77, 6, 3600, 600, 7200),
	}}
	wait := followed(t, From{RTR: []string{c.listen.Addr().String()}})
	if set := wait(1); set.Validate(netip.MustParsePrefix("203.0.113.0/24"), 64501) != Valid {
		t.Error("the VRP that stayed does not count")
	}
}

func TestClientStartsOverWhenTheCacheMust(t *testing.T) {
	c := newCache(t)
	serial := uint32(5)
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(1, cacheResponse, 77), prefixMessage(1, true, "203.0.112.0/20", 24, 64501), end1(77, 5, 3600, 600, 7200), message(1, serialNotify, 77, 0, 0, 0, 6),
	}}
	c.script <- exchange{want: query(1, 77, &serial), answer: [][]byte{message(1, cacheReset, 0)}}
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(1, cacheResponse, 78), prefixMessage(1, true, "198.51.100.0/24", 24, 1), prefixMessage(1, true, "192.0.2.0/24", 24, 1), end1(78, 1, 3600, 600, 7200),
	}}
	wait := followed(t, From{RTR: []string{c.listen.Addr().String()}})
	if set := wait(2); set.Validate(netip.MustParsePrefix("203.0.113.0/24"), 1) != NotFound {
		t.Error("what was before the reset still counts")
	}
}

// StayRTR closes the connection, without a word, of a client that goes on from an earlier run of it.
func TestClientStartsOverWithACacheThatBeganAnew(t *testing.T) {
	c := newCache(t)
	serial := uint32(5)
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(1, cacheResponse, 77), prefixMessage(1, true, "203.0.112.0/20", 24, 64501), end1(77, 5, 3600, 600, 7200),
	}, hangup: true}
	c.script <- exchange{want: query(1, 77, &serial), hangup: true}
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(1, cacheResponse, 78), prefixMessage(1, true, "198.51.100.0/24", 24, 1), prefixMessage(1, true, "192.0.2.0/24", 24, 1), end1(78, 1, 3600, 600, 7200),
	}}
	followed(t, From{RTR: []string{c.listen.Addr().String()}})(2)
}

func TestClientSpeaksTheOldVersion(t *testing.T) {
	c := newCache(t)
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{message(0, errorReport, unsupportedVersion, make([]byte, 8)...)}, hangup: true}
	c.script <- exchange{want: query(0, 0, nil), answer: [][]byte{
		message(0, cacheResponse, 3), prefixMessage(0, true, "203.0.112.0/20", 24, 64501), message(0, endOfData, 3, 0, 0, 0, 9),
	}}
	followed(t, From{RTR: []string{c.listen.Addr().String()}})(1)
}

func TestWhatALostCacheSaidStays(t *testing.T) {
	c := newCache(t)
	serial := uint32(5)
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(1, cacheResponse, 77), prefixMessage(1, true, "203.0.112.0/20", 24, 64501), end1(77, 5, 3600, 600, 7200),
	}, hangup: true}
	c.script <- exchange{want: query(1, 77, &serial), answer: [][]byte{
		message(1, cacheResponse, 77), prefixMessage(1, true, "192.0.2.0/24", 24, 64501), end1(77, 6, 3600, 600, 7200),
	}}
	followed(t, From{RTR: []string{c.listen.Addr().String()}})(2)
}

func TestFileIsFollowedAndABadOneChangesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "vrps.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	const one, two = `{"asn": 1, "prefix": "203.0.112.0/20"}`, `{"asn": 1, "prefix": "192.0.2.0/24"}`
	write(fmt.Sprintf(`{"roas": [%s]}`, one))
	wait := followed(t, From{File: name})
	wait(1)
	write(`{"roas": [`)
	write(fmt.Sprintf(`{"roas": [%s, %s]}`, one, two))
	wait(2)
}

// What stands before the answer would count as part of what is known already.
func TestAnAnswerThatDoesNotBeginChangesNothing(t *testing.T) {
	for name, sent := range map[string][]byte{
		"prefix":      prefixMessage(1, true, "203.0.113.0/24", 24, 64501),
		"end of data": end1(7, 1, 3600, 600, 7200),
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient("cache", slog.New(slog.DiscardHandler), func() { t.Error("it tells of a change") })
			ours, theirs := net.Pipe()
			defer ours.Close()
			go func() {
				defer theirs.Close()
				_, _ = io.ReadFull(theirs, make([]byte, len(query(1, 0, nil))))
				_, _ = theirs.Write(sent)
			}()
			if err := c.sync(ours); !errors.Is(err, errNoResponse) || len(c.vrps) > 0 {
				t.Errorf("got error %v and %d VRPs, want %q and none", err, len(c.vrps), errNoResponse)
			}
		})
	}
}

func FuzzPDU(f *testing.F) {
	f.Add(prefixMessage(1, true, "203.0.112.0/20", 24, 64501))
	f.Add(prefixMessage(0, false, "2001:db8::/32", 48, 64501))
	f.Add(end1(77, 5, 3600, 600, 7200))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readPDU(bytes.NewReader(b))
		if err != nil {
			return
		}
		if v, _, err := p.vrp(); err == nil && !v.valid() {
			t.Errorf("%v was read", v)
		}
		if _, when, err := p.end(); err == nil && (when.refresh <= 0 || when.expire < 10*time.Minute) {
			t.Errorf("times %v", when)
		}
	})
}
