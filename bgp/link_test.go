package bgp

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"gslb/bgp/screen"
	"gslb/bgp/wire"
)

// bench is a link whose two ends are in the test's hands.
type bench struct {
	*link
	router net.Conn // what the peer says and hears
	voice  net.Conn // what the speaker says and hears
	ended  chan farewell
}

func newBench(ctx context.Context) *bench {
	peer := Peer{Address: netip.MustParseAddr("127.0.1.1"), ASN: neighbour}
	r := newRelay(peer, loopback(1), "", newGate(), func(string) error { return nil }, slog.New(slog.DiscardHandler))
	router, peerEnd := net.Pipe()
	voice, speakerEnd := net.Pipe()
	b := &bench{router: router, voice: voice, ended: make(chan farewell, 1)}
	b.link = &link{
		relay: r, peer: peerEnd, speaker: speakerEnd, voice: bufio.NewReaderSize(speakerEnd, linkBuffer),
		ours: offer(64512, ourself.RouterID, DefaultHoldTime), established: make(chan struct{}),
	}
	go func() { b.ended <- b.carry(ctx) }()
	return b
}

// listen collects what comes to one end until it closes.
func listen(end net.Conn) <-chan []byte {
	all := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(end)
		all <- b
	}()
	return all
}

// establish brings the session up, and gives what comes to both ends.
func (b *bench) establish() (router, voice <-chan []byte) {
	router, voice = listen(b.router), listen(b.voice)
	theirs := offer(neighbour, netip.MustParseAddr("127.0.9.9"), DefaultHoldTime)
	write(b.voice, b.ours.Message())
	write(b.router, theirs.Message())
	write(b.voice, keepalive())
	write(b.router, keepalive())
	synctest.Wait()
	return router, voice
}

func write(end net.Conn, messages ...[]byte) {
	for _, m := range messages {
		_, _ = end.Write(m)
	}
}

// last is the NOTIFICATION that ends what an end was sent, or "".
func last(sent []byte) string {
	in := bufio.NewReader(strings.NewReader(string(sent)))
	found := ""
	for {
		m, err := peek(in, nil)
		if err != nil {
			return found
		}
		if n, ok := screen.ReadNotification(m); ok {
			found = n.String()
		}
		_, _ = in.Discard(len(m))
	}
}

func TestPeerThatNeverOpensIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t.Context())
		start := time.Now()
		router, _ := listen(b.router), listen(b.voice)
		write(b.voice, b.ours.Message())
		e := <-b.ended
		if got := time.Since(start); got != openTimeout {
			t.Errorf("given up after %v, want %v", got, openTimeout)
		}
		if got := last(<-router); got != "4/0" {
			t.Errorf("the peer got NOTIFICATION %q, want 4/0, hold timer expired; farewell %+v", got, e)
		}
	})
}

func TestNewConnectionReplacesOneThatLeadsToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t.Context())
		router, _ := listen(b.router), listen(b.voice)
		write(b.voice, b.ours.Message())
		early, kept := net.Pipe()
		b.relay.offer(kept, true)
		if _, err := early.Read(make([]byte, 1)); err == nil {
			t.Error("a connection beside a young one was not closed")
		}
		time.Sleep(openPatience)
		_, late := net.Pipe()
		b.relay.offer(late, true)
		if e := <-b.ended; e.text != replaced().text {
			t.Errorf("the link ended with %q, want %q", e.text, replaced().text)
		}
		if got := last(<-router); got != "6/7" {
			t.Errorf("the old connection got NOTIFICATION %q, want 6/7, connection collision resolution", got)
		}
	})
}

func TestSpeakerThatTakesNothingEndsTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t.Context())
		router := listen(b.router)
		go write(b.voice, b.ours.Message())
		write(b.router, offer(neighbour, netip.MustParseAddr("127.0.9.9"), DefaultHoldTime).Message())
		n, _ := b.router.Write(bytes.Repeat(keepalive(), 1<<20))
		if most := 3 * linkBuffer; n > most {
			t.Errorf("the link took %d octets that it could not hand on, want at most %d", n, most)
		}
		e := <-b.ended
		if want := "the speaker takes nothing"; !strings.HasPrefix(e.text, want) {
			t.Errorf("the link ended with %q, want %q", e.text, want)
		}
		<-router
	})
}

func TestPeerThatTakesNothingIsGivenUpAfterTheSendHoldTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t.Context())
		heard := listen(b.voice)
		go write(b.voice, b.ours.Message())
		discarded := make([]byte, len(b.ours.Message())+len(keepalive()))
		go write(b.router, offer(neighbour, netip.MustParseAddr("127.0.9.9"), DefaultHoldTime).Message(), keepalive())
		go write(b.voice, keepalive())
		if _, err := io.ReadFull(b.router, discarded); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		start := time.Now()
		write(b.voice, keepalive())
		e := <-b.ended
		if want := "the peer takes nothing"; !strings.HasPrefix(e.text, want) {
			t.Errorf("the link ended with %q, want %q", e.text, want)
		}
		if got := time.Since(start); got < sendHold || got > sendHold+2*lastWords {
			t.Errorf("given up after %v, want %v", got, sendHold)
		}
		<-heard
	})
}

func TestLinkEndsForWhoeverEndsIt(t *testing.T) {
	type ends struct{ router, voice string } // the last NOTIFICATION that each end gets
	for _, c := range []struct {
		name string
		act  func(b *bench, stop context.CancelCauseFunc)
		text string
		want ends
		will bool
	}{
		{
			name: "the peer closes",
			act:  func(b *bench, _ context.CancelCauseFunc) { _ = b.router.Close() },
			text: "the peer closed the connection",
		},
		{
			name: "the speaker closes",
			act:  func(b *bench, _ context.CancelCauseFunc) { _ = b.voice.Close() },
			text: "the speaker closed the connection",
		},
		{
			name: "the peer is shut down",
			act:  func(b *bench, _ context.CancelCauseFunc) { write(b.router, message(3, 6, 2)) },
			text: "the peer sent cease, administrative shutdown (6/2)",
			want: ends{voice: "6/2"},
			will: true,
		},
		{
			name: "the peer is reset",
			act:  func(b *bench, _ context.CancelCauseFunc) { write(b.router, message(3, 6, 4)) },
			text: "the peer sent cease, administrative reset (6/4)",
			want: ends{voice: "6/4"},
		},
		{
			name: "the peer is reset hard",
			act:  func(b *bench, _ context.CancelCauseFunc) { write(b.router, message(3, 6, 9, 6, 4, 2, 'h', 'i')) },
			text: `the peer sent cease, hard reset (6/9): "hi"`,
			want: ends{voice: "6/9"},
			will: true,
		},
		{
			name: "the peer was silent",
			act:  func(b *bench, _ context.CancelCauseFunc) { write(b.voice, message(3, 4, 0)) },
			text: "we sent hold timer expired (4/0)",
			want: ends{router: "4/0"},
		},
		{
			name: "the peer sends garbage",
			act:  func(b *bench, _ context.CancelCauseFunc) { go write(b.router, make([]byte, 100)) },
			text: `we sent message header error, connection not synchronized (1/1): "marker"`,
			want: ends{router: "1/1"},
		},
		{
			name: "the peer is removed",
			act:  func(b *bench, stop context.CancelCauseFunc) { stop(removed()) },
			text: "removed from the configuration",
			want: ends{router: "6/3"},
		},
		{
			name: "the peer is changed, and the speaker hears of it first",
			act: func(b *bench, stop context.CancelCauseFunc) {
				write(b.voice, message(3, 6, 3))
				time.Sleep(lastWords / 2)
				stop(changed())
			},
			text: "changed in the configuration",
			want: ends{router: "6/6"},
		},
		{
			name: "the speaker takes its leave by itself",
			act:  func(b *bench, _ context.CancelCauseFunc) { write(b.voice, message(3, 6, 3)) },
			text: "we sent cease, peer de-configured (6/3)",
			want: ends{router: "6/3"},
		},
		{
			name: "the server ends",
			act:  func(b *bench, stop context.CancelCauseFunc) { stop(nil) },
			text: "the server ends",
			want: ends{router: "6/2"},
		},
		{
			name: "it announced too much",
			act: func(b *bench, _ context.CancelCauseFunc) {
				b.relay.order(ending{subcode: ceaseMaxPrefixes, text: "too many"})
			},
			text: "too many",
			want: ends{router: "6/1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				b := newBench(ctx)
				router, voice := b.establish()
				if got := b.relay.show().State; got != Established {
					t.Fatalf("the session is %s, want established", got)
				}
				time.Sleep(time.Hour) // of the bubble's clock: no timeout is left over from the opening
				c.act(b, stop)
				e := <-b.ended
				if e.text != c.text || e.will != c.will || e.lasted < time.Hour {
					t.Errorf("farewell: %q, will %t, after %v; want %q, will %t, after an hour", e.text, e.will, e.lasted, c.text, c.will)
				}
				if got := (ends{last(<-router), last(<-voice)}); got != c.want {
					t.Errorf("NOTIFICATIONs: %+v, want %+v", got, c.want)
				}
				if v := b.relay.show(); v.State != Idle || v.Cause != c.text || v.Flaps != 1 {
					t.Errorf("view of the peer: %+v", v)
				}
				stop(nil)
			})
		})
	}
}

// TestSpeakersEndDoesNotHideThePeersWord has the speaker close, since the peer said goodbye, before
// the peer's direction tells of that.
func TestSpeakersEndDoesNotHideThePeersWord(t *testing.T) {
	l := &link{voice: bufio.NewReader(strings.NewReader(""))}
	l.goodbye.Store(&farewell{text: "the peer sent cease, administrative shutdown (6/2)", will: true})
	if e := l.outbound(); !e.will || e.text != l.goodbye.Load().text {
		t.Errorf("the link ended with %q, will %t", e.text, e.will)
	}
}

// TestWhyTheSpeakerEndsReachesThePeer has the speaker say why and close at once, while the peer still
// sends: what the peer's direction meets must not hide it.
func TestWhyTheSpeakerEndsReachesThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t.Context())
		router, _ := b.establish()
		go func() {
			for {
				if _, err := b.router.Write(keepalive()); err != nil {
					return
				}
			}
		}()
		write(b.voice, message(3, 3, 1))
		_ = b.voice.Close()
		if e := <-b.ended; e.text != "we sent UPDATE message error, malformed attribute list (3/1)" {
			t.Errorf("the link ended with %q", e.text)
		}
		if got := last(<-router); got != "3/1" {
			t.Errorf("the peer got NOTIFICATION %q, want 3/1", got)
		}
	})
}

func TestNotificationsAreToldInWords(t *testing.T) {
	for _, c := range []struct {
		code, subcode uint8
		want          string
	}{
		{4, 0, "hold timer expired (4/0)"},
		{6, 0, "cease (6/0)"},
		{6, 3, "cease, peer de-configured (6/3)"},
		{3, 200, "UPDATE message error (3/200)"},
		{8, 0, "send hold timer expired (8/0)"},
		{0, 0, "NOTIFICATION 0/0"},
		{200, 1, "NOTIFICATION 200/1"},
	} {
		if got := notificationText(c.code, c.subcode); got != c.want {
			t.Errorf("%d/%d: got %q, want %q", c.code, c.subcode, got, c.want)
		}
	}
}

func TestShutdownCommunicationIsQuotedAndBounded(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"none", nil, ""},
		{"empty", []byte{0}, ""},
		{"text", []byte{2, 'h', 'i'}, `: "hi"`},
		{"control characters", []byte{3, 'a', '\n', 0x1b}, `: "a\n\x1b"`},
		{"not UTF-8", []byte{2, 0xff, 'a'}, `: "?a"`},
		{"longer than it is", []byte{9, 'h', 'i'}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := notified(screen.Notification{Code: 6, Subcode: 2, Data: c.data}, wire.Received)
			if got, want := reasonText(r), "the peer sent cease, administrative shutdown (6/2)"+c.want; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func FuzzNotificationIsTold(f *testing.F) {
	f.Add(byte(6), byte(2), []byte{2, 'h', 'i'})
	f.Add(byte(6), byte(9), []byte{6, 4, 2, 0xff, '\n'})
	f.Add(byte(6), byte(9), []byte{6})
	f.Add(byte(255), byte(255), []byte{255})
	f.Fuzz(func(t *testing.T, code, subcode byte, data []byte) {
		text := reasonText(notified(screen.Notification{Code: code, Subcode: subcode, Data: data}, wire.Received))
		if !strings.HasPrefix(text, "the peer sent ") || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("%d/%d %x is told as %q", code, subcode, data, text)
		}
	})
}

func BenchmarkMessageThroughTheLink(b *testing.B) {
	pair := func() (near, far net.Conn) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		if far, err = net.Dial("tcp", l.Addr().String()); err != nil {
			b.Fatal(err)
		}
		if near, err = l.Accept(); err != nil {
			b.Fatal(err)
		}
		return near, far
	}
	peer, router := pair()
	speaker, voice := pair()
	r := newRelay(Peer{}, loopback(1), "", newGate(), func(string) error { return nil }, slog.New(slog.DiscardHandler))
	l := &link{
		relay: r, peer: peer, speaker: speaker, voice: bufio.NewReaderSize(speaker, linkBuffer),
		ours: offer(64512, ourself.RouterID, DefaultHoldTime), established: make(chan struct{}),
	}
	ended := make(chan farewell, 1)
	go func() { ended <- l.carry(b.Context()) }()
	heard := bufio.NewReaderSize(voice, linkBuffer)
	next := func() {
		m, err := peek(heard, nil)
		if err != nil {
			b.Error(err)
		}
		_, _ = heard.Discard(len(m))
	}
	write(voice, l.ours.Message())
	write(router, offer(neighbour, netip.MustParseAddr("127.0.9.9"), DefaultHoldTime).Message(), keepalive())
	next()
	next()
	many := bytes.Repeat(announcement(aPrefix), 256)
	b.ReportAllocs()
	for b.Loop() {
		write(router, many)
		for range 256 {
			next()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/message")
	_ = router.Close()
	<-ended
}
