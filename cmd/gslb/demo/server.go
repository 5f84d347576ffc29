package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gslb/dns/admin"
)

// Bounds of how long the name server may take to be ready, and its partner's session to be up.
const (
	readyTime   = 20 * time.Second
	sessionTime = 10 * time.Second
	readyAgain  = 50 * time.Millisecond // between two looks
)

// server is the name server: gslb as a child, which works by the configuration in the demo's folder.
// See [Attend].
type server struct{ *child }

func startServer(program string, f folder) (*server, error) {
	c, err := startChild("the name server", program, f.log(), "demo", "--serve", string(f))
	if err != nil {
		return nil, err
	}
	return &server{c}, nil
}

// ready waits until the server answers questions. Only the server that runs this configuration
// counts: another one may have taken the port.
func (s *server) ready(ctx context.Context, d door, config string) (status admin.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		status, err = d.status(ctx)
		if err == nil && status.Ready && status.Config.File == config {
			return status, nil
		}
		switch err := s.rest(ctx); {
		case errors.Is(err, context.DeadlineExceeded):
			return status, fmt.Errorf("the name server is not ready after %s; the end of its log:\n%s", readyTime, s.tail())
		case errors.Is(err, context.Canceled):
			return status, nil
		case err != nil:
			return status, err
		}
	}
}

// learned waits until the server steers a client by what a partner announces, and tells whether that
// came in time.
func (s *server) learned(ctx context.Context, d door, client viewer) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionTime)
	defer cancel()
	for {
		e, err := d.explain(ctx, client)
		for _, l := range e.Lines {
			if err == nil && l.Get("peer") != "" {
				return true, nil
			}
		}
		switch err := s.rest(ctx); {
		case ctx.Err() != nil:
			return false, nil
		case err != nil:
			return false, err
		}
	}
}

// rest waits a moment; the error says that ctx or the server ended before.
func (s *server) rest(ctx context.Context) error {
	select {
	case <-time.After(readyAgain):
		return nil
	case <-s.ended:
		return s.died()
	case <-ctx.Done():
		return ctx.Err()
	}
}
