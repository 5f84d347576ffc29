package bgp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gslb/bgp/wire"
)

// puppet is a speaker whose strings the test holds.
type puppet struct {
	*wire.Reader
	*wire.Writer
	in, out net.Conn
	killed  bool
	dead    chan struct{} // closed by the test's exit, or by being killed
	die     func()
}

// nursery starts puppets instead of processes.
type nursery struct {
	*child
	born chan *puppet
	log  *strings.Builder
}

func newNursery() *nursery {
	n := &nursery{born: make(chan *puppet), log: &strings.Builder{}}
	start := func(context.Context) (*process, error) {
		ourIn, theirIn := net.Pipe()
		ourOut, theirOut := net.Pipe()
		p := &puppet{Reader: wire.NewReader(theirIn), Writer: wire.NewWriter(theirOut), in: theirIn, out: theirOut, dead: make(chan struct{})}
		p.die = sync.OnceFunc(func() {
			_ = theirIn.Close()
			_ = theirOut.Close()
			close(p.dead)
		})
		n.born <- p
		return &process{
			in: ourIn, out: ourOut,
			kill: func() { p.killed = true; p.die() },
			wait: func() error { <-p.dead; return errors.New("exit status 2") },
		}, nil
	}
	n.child = newChild(start, slog.New(slog.NewTextHandler(n.log, nil)))
	return n
}

// wanted is a state with so many neighbours.
func wantedState(n int) wire.Configure {
	c := wire.Configure{ASN: 64512, RouterID: netip.MustParseAddr("192.0.2.53")}
	for i := range n {
		c.Neighbours = append(c.Neighbours, wire.Neighbour{ID: uint32(i + 1), Address: loopback(uint32(i + 1)), ASN: neighbour, IPv4: true})
	}
	return c
}

// next is the next message that a puppet is told.
func (p *puppet) next(t *testing.T) wire.Message {
	t.Helper()
	m, err := p.Read()
	if err != nil {
		t.Fatalf("awaiting a message: %v", err)
	}
	return m
}

// greet exchanges Hellos.
func (p *puppet) greet(t *testing.T) {
	t.Helper()
	if m, ok := p.next(t).(wire.Hello); !ok || m.Version != wire.Version {
		t.Fatalf("the speaker was told %+v, want Hello", m)
	}
	if err := p.Write(wire.Hello{Version: wire.Version}); err != nil {
		t.Fatal(err)
	}
}

func TestBadSpeakerIsKilledAndAnotherStarted(t *testing.T) {
	for _, c := range []struct {
		name  string
		act   func(t *testing.T, p *puppet)
		cause string
		kills bool
		after time.Duration
	}{
		{
			name: "silent from its birth", cause: "it was silent for 12s", kills: true, after: silence + lastLook,
			act: func(t *testing.T, p *puppet) { p.next(t); p.next(t) },
		},
		{
			name: "silent later", cause: "it was silent for 12s", kills: true, after: 29*time.Second + silence + lastLook,
			act: func(t *testing.T, p *puppet) {
				p.greet(t)
				p.next(t)
				for range 30 {
					_ = p.Write(wire.Alive{})
					time.Sleep(time.Second)
				}
			},
		},
		{
			name: "heard late", cause: "exit status 2", after: silence + lastLook - 1,
			act: func(t *testing.T, p *puppet) {
				p.greet(t)
				p.next(t)
				time.Sleep(silence + lastLook - 1) // as one that was stopped is, or that nobody could hear
				_ = p.Write(wire.Alive{})
				p.die()
			},
		},
		{
			name: "of another version", cause: "it speaks another protocol: {Version:77}", kills: true,
			act: func(t *testing.T, p *puppet) { p.next(t); _ = p.Write(wire.Hello{Version: 77}) },
		},
		{
			name: "impolite", cause: "it speaks another protocol: {}", kills: true,
			act: func(t *testing.T, p *puppet) { p.next(t); _ = p.Write(wire.Alive{}) },
		},
		{
			name: "stammering", cause: "it does not keep to the protocol", kills: true,
			act: func(t *testing.T, p *puppet) { p.greet(t); _, _ = p.out.Write([]byte{0, 0, 0, 1, 255}) },
		},
		{
			name: "deaf", cause: "it took no message for 10s", kills: true, after: tellTimeout,
			act: func(_ *testing.T, p *puppet) {
				_ = p.Write(wire.Hello{Version: wire.Version})
				time.Sleep(silence / 2)
				_ = p.Write(wire.Alive{})
			},
		},
		{
			name: "dead", cause: "exit status 2",
			act: func(t *testing.T, p *puppet) { p.greet(t); p.next(t); p.die() },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNursery()
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { n.run(ctx); close(done) }()
				n.want(wantedState(1))
				p := <-n.born
				start := time.Now()
				c.act(t, p)
				if m := <-n.events; m != nil {
					t.Errorf("got event %+v, want the speaker's death", m)
				}
				if got := time.Since(start); got != c.after {
					t.Errorf("the speaker ended after %v, want %v", got, c.after)
				}
				if p.killed != c.kills {
					t.Errorf("the speaker was killed: %t, want %t", p.killed, c.kills)
				}
				again := <-n.born
				if got := time.Since(start) - c.after; got < childLeast || got > 2*childLeast {
					t.Errorf("the next one started after %v, want between %v and twice that", got, childLeast)
				}
				if !strings.Contains(n.log.String(), c.cause) {
					t.Errorf("log: %s\nwant cause %q", n.log, c.cause)
				}
				again.greet(t)
				if m, ok := again.next(t).(wire.Configure); !ok || len(m.Neighbours) != 1 {
					t.Errorf("the next one was told %+v, want the whole state", m)
				}
				cancel()
				again.die()
				<-done
			})
		})
	}
}

func TestSpeakerIsToldChangesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNursery()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { n.run(ctx); close(done) }()
		n.want(wantedState(1))
		p := <-n.born
		p.greet(t)
		told := make(chan wire.Message, 10)
		go func() {
			defer p.die()
			for {
				m, err := p.Read()
				if err != nil {
					return
				}
				told <- m
			}
		}()
		n.want(wantedState(1))
		synctest.Wait()
		n.want(wantedState(2))
		synctest.Wait()
		n.want(wantedState(2))
		synctest.Wait()
		n.want(wantedState(0))
		synctest.Wait()
		close(told)
		var got []string
		for m := range told {
			switch m := m.(type) {
			case wire.Configure:
				got = append(got, fmt.Sprintf("configure %d", len(m.Neighbours)))
			default:
				got = append(got, fmt.Sprintf("%T", m))
			}
		}
		want := []string{"configure 1", "configure 2", "wire.Stop"}
		if !slices.Equal(got, want) {
			t.Errorf("the speaker was told %v, want %v", got, want)
		}
		if m := <-n.events; m != nil || p.killed {
			t.Errorf("event %+v, killed %t; want a calm end", m, p.killed)
		}
		cancel()
		<-done
	})
}

func TestSpeakerThatDoesNotEndIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNursery()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { n.run(ctx); close(done) }()
		n.want(wantedState(1))
		p := <-n.born
		p.greet(t)
		p.next(t)
		start := time.Now()
		cancel()
		<-done
		if got := time.Since(start); got != endGrace || !p.killed {
			t.Errorf("ended after %v, killed %t; want to be killed after %v", got, p.killed, endGrace)
		}
	})
}

func TestDelaysGrowUpToTheMostAndBeginAnew(t *testing.T) {
	b := backoff{least: time.Second, most: 2 * time.Minute}
	for round := range 3 {
		ceiling := 2 * time.Second
		for range 20 {
			if got := b.next(); got < b.least || got > ceiling {
				t.Fatalf("round %d, failure %d: delay %v, want between %v and %v", round, b.failed, got, b.least, ceiling)
			}
			ceiling = min(2*ceiling, b.most)
		}
		b.reset()
	}
	seen := make(map[time.Duration]bool)
	for range 20 {
		b.reset()
		seen[b.next()] = true
	}
	if len(seen) < 2 {
		t.Error("the delays are not drawn")
	}
}

func TestDeathIsExplainedByTheLineThatTellsMost(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"panic", `echo starting >&2; echo 'panic: index out of range' >&2; echo; echo 'goroutine 1 [running]:' >&2; exit 2`, "exit status 2: panic: index out of range"},
		{"complaint", `echo first >&2; echo last >&2; exit 3`, "exit status 3: last"},
		{"wordless", `exit 4`, "exit status 4"},
		{"by itself", `exit 0`, "it ended by itself"},
		{"much", `i=0; while [ $i -lt 3000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo last >&2; exit 5`, "exit status 5: last"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := started(t.Context(), func(ctx context.Context) *exec.Cmd {
				return exec.CommandContext(ctx, "/bin/sh", "-c", c.script)
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = p.out.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := p.out.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("it does not end")
			}
			if got := p.end(false).Error(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSpeakerThatCannotStartIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		log := &strings.Builder{}
		c := newChild(func(context.Context) (*process, error) {
			tries++
			return nil, errors.New("no such file")
		}, slog.New(slog.NewTextHandler(log, nil)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c.want(wantedState(1))
		c.run(ctx)
		if least, most := int(time.Hour/childMost), int(time.Hour/childLeast)/10; tries < least || tries > most {
			t.Errorf("tried %d times in an hour, want between %d and %d", tries, least, most)
		}
		if !strings.Contains(log.String(), "no such file") {
			t.Errorf("log: %s, want the cause in it", log)
		}
	})
}
