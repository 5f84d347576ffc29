package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"gslb/dns/admin"
)

// Bounds of how long the name server may take to begin and to end.
const (
	readyTime = 20 * time.Second
	endTime   = 5 * time.Second
)

// server is the name server: gslb as a child, which works by the configuration in the demo's folder.
type server struct {
	command *exec.Cmd
	alive   io.Closer // while it is open, the child serves; see [Attend]
	log     string
	ended   chan struct{}
	fate    error // how the process ended; set before ended is closed
}

func startServer(program string, f folder) (*server, error) {
	log, err := os.OpenFile(f.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := exec.Command(program, "demo", "--serve", string(f))
	c.Stdout, c.Stderr = log, log
	alive, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("the name server: %w", err)
	}
	s := &server{command: c, alive: alive, log: f.log(), ended: make(chan struct{})}
	go func() {
		s.fate = c.Wait()
		close(s.ended)
	}()
	return s, nil
}

// ready waits until the server answers questions. Only the server that runs this configuration
// counts: another one may have taken the port.
func (s *server) ready(ctx context.Context, d door, config string) (admin.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for {
		status, err := d.status(ctx)
		if err == nil && status.Ready && status.Config.File == config {
			return status, nil
		}
		select {
		case <-ticks.C:
		case <-s.ended:
			return status, s.died()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return status, fmt.Errorf("the name server is not ready after %s; the end of its log:\n%s", readyTime, s.tail())
			}
			return status, nil
		}
	}
}

// died says how the server ended, with the last that it said.
func (s *server) died() error {
	fate := "exit status 0"
	if s.fate != nil {
		fate = s.fate.Error()
	}
	return fmt.Errorf("the name server ended (%s); the end of its log:\n%s", fate, s.tail())
}

// tailLines is how much of the log is shown.
const tailLines = 10

func (s *server) tail() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return "  " + err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var tail strings.Builder
	for _, line := range lines[max(0, len(lines)-tailLines):] {
		fmt.Fprintf(&tail, "  %s\n", line)
	}
	return strings.TrimRight(tail.String(), "\n")
}

// kill ends the server as kill -9 does: it has no time to save anything.
func (s *server) kill() {
	_ = s.command.Process.Kill() // an error says that it has ended by itself
	<-s.ended
	_ = s.alive.Close()
}

// stop ends the server and waits for it.
func (s *server) stop() {
	_ = s.alive.Close()
	select {
	case <-s.ended:
		return
	case <-time.After(endTime):
		s.kill()
	}
}
