package bgp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"time"

	"gslb/bgp/wire"
)

// How long the supervision waits for what.
const (
	silence     = 10 * time.Second // from a speaker that says it is alive every second
	lastLook    = 2 * time.Second  // after that, for what it said while this process or both stood still
	tellTimeout = 10 * time.Second // for the speaker to take a message
	childLeast  = 500 * time.Millisecond
	childMost   = 30 * time.Second
	childSound  = time.Minute // a speaker that lived for so long begins the backoff anew
)

// waitingMessages is how many messages of the speaker wait for whoever takes them. The largest have some thousand routes.
const waitingMessages = 16

// errUnwanted ends a speaker that has no neighbours.
var errUnwanted = errors.New("no peers")

// child keeps a speaker running while there are neighbours for it, and restarts one that dies, hangs or
// does not keep to the protocol.
type child struct {
	start  func(context.Context) (*process, error)
	log    *slog.Logger
	events chan wire.Message // what the speaker says; nil: it is gone, after it was there
	wake   chan struct{}     // one slot: wanted changed

	mu     sync.Mutex
	wanted wire.Configure
}

func newChild(start func(context.Context) (*process, error), log *slog.Logger) *child {
	return &child{start: start, log: log, events: make(chan wire.Message, waitingMessages), wake: make(chan struct{}, 1)}
}

// want makes the state the one that the speaker is to have.
func (c *child) want(state wire.Configure) {
	c.mu.Lock()
	c.wanted = state
	c.mu.Unlock()
	signal(c.wake)
}

// state gives what is wanted.
func (c *child) state() wire.Configure {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wanted
}

// run keeps the speaker running until ctx ends, and ends it then.
func (c *child) run(ctx context.Context) {
	wait := backoff{least: childLeast, most: childMost}
	for c.called(ctx) {
		born := time.Now()
		err := c.live(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errUnwanted):
			c.log.Info("speaker ended", "cause", errUnwanted)
			wait.reset()
			continue
		}
		if time.Since(born) >= childSound {
			wait.reset()
		}
		delay := wait.next()
		c.log.Error("speaker died", "cause", err, "again", delay.Round(time.Millisecond))
		pause(ctx, delay)
	}
}

// called waits until there are neighbours. It tells whether that came before the end of ctx.
func (c *child) called(ctx context.Context) bool {
	for ctx.Err() == nil {
		if len(c.state().Neighbours) > 0 {
			return true
		}
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
	}
	return false
}

// live is the life of one speaker; it returns why it ended.
func (c *child) live(ctx context.Context) error {
	p, err := c.start(ctx)
	if err != nil {
		return err
	}
	life, end := context.WithCancelCause(ctx)
	var both sync.WaitGroup
	both.Go(func() { end(c.tell(life, p.in)) })
	both.Go(func() { end(c.hear(life, p.out)) })
	<-life.Done()
	cause := context.Cause(life)
	past := time.Unix(1, 0)
	_ = p.in.SetWriteDeadline(past) // a closed pipe needs none
	_ = p.out.SetReadDeadline(past) // as above
	both.Wait()
	calm := ctx.Err() != nil || errors.Is(cause, errUnwanted) || errors.Is(cause, errPipe)
	died := p.end(!calm)
	select {
	case c.events <- nil:
	case <-ctx.Done():
	}
	if errors.Is(cause, errPipe) {
		return died
	}
	return cause
}

// errPipe says that a pipe of the speaker ended, which is how its death shows.
var errPipe = errors.New("its pipe ended")

// tell gives the speaker the wanted state, and every change of it.
func (c *child) tell(ctx context.Context, in inlet) error {
	w := wire.NewWriter(in)
	write := func(m wire.Message) error { return inTime(ctx, in, func() error { return w.Write(m) }) }
	if err := write(wire.Hello{Version: wire.Version}); err != nil {
		return err
	}
	var told wire.Configure
	for {
		wanted := c.state()
		if len(wanted.Neighbours) == 0 {
			_ = write(wire.Stop{}) // it also ends with its input
			return errUnwanted
		}
		if !reflect.DeepEqual(told, wanted) { // by reflection: what a neighbour gets later counts by itself
			if err := write(wanted); err != nil {
				return err
			}
			told = wanted
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.wake:
		}
	}
}

// inTime writes a message, or says why the speaker did not take it.
func inTime(ctx context.Context, in inlet, write func() error) error {
	_ = in.SetWriteDeadline(time.Now().Add(tellTimeout)) // the write fails as well
	if ctx.Err() != nil {
		return ctx.Err() // whose deadline was overwritten just now
	}
	switch err := write(); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it took no message for %v", tellTimeout)
	case err != nil:
		return fmt.Errorf("%w: %w", errPipe, err)
	}
	return nil
}

// secondLook reads from a speaker, and when its time is over once more: where this process was stopped meanwhile, what
// the speaker said is still in the pipe, and to kill it would end all sessions.
type secondLook struct {
	outlet
	done <-chan struct{} // the speaker is to end
}

func (s secondLook) Read(b []byte) (int, error) {
	n, err := s.outlet.Read(b)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	_ = s.SetReadDeadline(time.Now().Add(lastLook)) // the read fails as well
	select {
	case <-s.done:
		return 0, err // whose deadline was overwritten just now
	default:
		return s.outlet.Read(b)
	}
}

// hear passes on what the speaker says until it falls silent.
func (c *child) hear(ctx context.Context, out outlet) error {
	r := wire.NewReader(secondLook{out, ctx.Done()})
	next := func() (wire.Message, error) {
		_ = out.SetReadDeadline(time.Now().Add(silence)) // the read fails as well
		if ctx.Err() != nil {
			return nil, ctx.Err() // whose deadline was overwritten just now
		}
		m, err := r.Read()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fmt.Errorf("it was silent for %v", silence+lastLook)
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("%w: %w", errPipe, err)
		case err != nil:
			return nil, fmt.Errorf("it does not keep to the protocol: %w", err)
		}
		return m, nil
	}
	m, err := next()
	if err != nil {
		return err
	}
	if hello, ok := m.(wire.Hello); !ok || hello.Version != wire.Version {
		return fmt.Errorf("it speaks another protocol: %+v instead of version %d", m, wire.Version)
	}
	for {
		m, err := next()
		if err != nil {
			return err
		}
		if _, ok := m.(wire.Alive); ok {
			continue
		}
		select {
		case c.events <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
