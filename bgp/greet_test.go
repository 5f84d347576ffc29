package bgp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// caller gives a relay whose connections to the speaker end, one after the other, in these hands.
func caller(hands ...func(speaker net.Conn)) *relay {
	r := newRelay(Peer{}, loopback(1), "", newGate(), func(string) error { return nil }, slog.New(slog.DiscardHandler))
	r.call = func(context.Context, uint16) (net.Conn, error) {
		if len(hands) == 0 {
			return nil, errors.New("connection refused")
		}
		near, far := net.Pipe()
		go hands[0](far)
		hands = hands[1:]
		return near, nil
	}
	return r
}

// TestSpeakerThatForgetsAConnectionIsAskedAgain has a connection come while the speaker clears up the
// session before: it is accepted, and no OPEN comes on it.
func TestSpeakerThatForgetsAConnectionIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forgotten := make(chan error, 1)
		forget := func(speaker net.Conn) {
			_, err := io.Copy(io.Discard, speaker)
			forgotten <- err
		}
		ours := offer(64512, ourself.RouterID, DefaultHoldTime)
		r := caller(forget, func(speaker net.Conn) { write(speaker, ours.Message()) })
		begin := time.Now()
		peer, _ := net.Pipe()
		l, err := r.reach(t.Context(), peer, 1790)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != greetTimeout+reachAgain {
			t.Errorf("an OPEN came after %v, want it after %v", took, greetTimeout+reachAgain)
		}
		if l.ours.ASN != ours.ASN {
			t.Errorf("the OPEN is of AS %d", l.ours.ASN)
		}
		if err := <-forgotten; err != nil {
			t.Errorf("the forgotten connection ended with %v", err)
		}
		_ = l.speaker.Close()
	})
}

func TestPeerIsLetGoWhenTheSpeakerNeverGreets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silent []func(net.Conn)
		for range reachTimeout/greetTimeout + 1 {
			silent = append(silent, func(speaker net.Conn) { _, _ = io.Copy(io.Discard, speaker) })
		}
		begin := time.Now()
		peer, router := net.Pipe()
		heard := listen(router)
		e := caller(silent...).hold(t.Context(), peer, 1790)
		if took := time.Since(begin); took < reachTimeout || took > reachTimeout+lastWords {
			t.Errorf("the peer was let go after %v, want %v", took, reachTimeout)
		}
		if got := last(<-heard); got != "6/8" || e.lasted != 0 {
			t.Errorf("the peer got NOTIFICATION %q, want 6/8, out of resources; %+v", got, e)
		}
	})
}
