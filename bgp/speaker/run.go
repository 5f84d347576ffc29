package speaker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gslb/bgp/wire"
)

const (
	// alivePeriod is how often the server hears that we live.
	alivePeriod = time.Second
	// linger is how long routes wait for more, so that they come to the server in few batches.
	linger = 5 * time.Millisecond
	// fullBatch is the number of routes that do not wait.
	fullBatch = 4096
)

// Run speaks BGP as the messages from in say, and tells on out what it hears, until in ends, a Stop
// comes or ctx ends. It then closes all sessions and returns nil. The neighbours get Cease, Peer
// De-configured, as those that a Configure takes away do: whether a partner is to hear it is for
// the relay between us to decide.
//
// An error means that the server is of another version, or that one of the two ends broke. The
// goroutine that reads in lives until in ends, and those of gobgp that cannot be stopped until the
// process does; all others have ended when Run returns.
func Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := wire.NewReader(in), wire.NewWriter(out)
	if err := greet(r, w); err != nil {
		return err
	}
	s := newSpeaker(w)
	defer s.stop()
	return s.run(ctx, read(ctx, r))
}

// greet exchanges the Hello of both ends.
func greet(r *wire.Reader, w *wire.Writer) error {
	if err := w.Write(wire.Hello{Version: wire.Version}); err != nil {
		return fmt.Errorf("greet the server: %w", err)
	}
	m, err := r.Read()
	if err != nil {
		return fmt.Errorf("wait for the server's greeting: %w", err)
	}
	hello, ok := m.(wire.Hello)
	if !ok {
		return fmt.Errorf("the server's first message is a %T, not a greeting", m)
	}
	if hello.Version != wire.Version {
		return fmt.Errorf("the server speaks version %d of the pipe's protocol, this speaker version %d", hello.Version, wire.Version)
	}
	return nil
}

// command is a message from the server, or the error that ended them.
type command struct {
	message wire.Message
	err     error
}

func read(ctx context.Context, r *wire.Reader) <-chan command {
	commands := make(chan command)
	go func() {
		for {
			m, err := r.Read()
			select {
			case commands <- command{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return commands
}

// run is the one goroutine that owns the speaker's state and writes to the server.
func (s *speaker) run(ctx context.Context, commands <-chan command) error {
	alive := time.NewTicker(alivePeriod)
	defer alive.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case c := <-commands:
			if err = s.command(c); errors.Is(err, errStop) {
				return nil
			}
		case e := <-s.events:
			err = s.event(e)
		case <-s.lingered.C:
			err = s.flush()
		case l := <-s.journal.lines:
			err = s.out.Write(s.log(l))
		case <-alive.C:
			if s.gobgp != nil {
				s.gobgp.ping()
			}
			err = s.out.Write(wire.Alive{})
		}
		if err != nil {
			return err
		}
	}
}

// errStop ends the loop because the server wants it.
var errStop = errors.New("stop")

func (s *speaker) command(c command) error {
	if c.err == io.EOF {
		return errStop
	}
	if c.err != nil {
		return fmt.Errorf("read from the server: %w", c.err)
	}
	switch m := c.message.(type) {
	case wire.Configure:
		return s.configure(m)
	case wire.Stop:
		return errStop
	}
	return fmt.Errorf("the server sent a %T, which is not for a speaker", c.message)
}
