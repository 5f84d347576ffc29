package demo

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// endTime is how long a child may take to end.
const endTime = 5 * time.Second

// child is gslb in a process of its own. It ends when its standard input does, and the system sees to
// that however the demo ends.
type child struct {
	what    string // it is, in words
	command *exec.Cmd
	stdin   io.WriteCloser
	log     string
	ended   chan struct{}
	fate    error // how the process ended; set before ended is closed
}

// startChild runs a verb of gslb. What it says goes to a log.
func startChild(what, program, log string, verb ...string) (*child, error) {
	to, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	c := exec.Command(program, verb...)
	c.Stdout, c.Stderr = to, to
	stdin, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	p := &child{what: what, command: c, stdin: stdin, log: log, ended: make(chan struct{})}
	go func() {
		p.fate = c.Wait()
		close(p.ended)
	}()
	return p, nil
}

// died says how the child ended, with the last that it said.
func (c *child) died() error {
	fate := "exit status 0"
	if c.fate != nil {
		fate = c.fate.Error()
	}
	return fmt.Errorf("%s ended (%s); the end of its log:\n%s", c.what, fate, c.tail())
}

// tailLines is how much of a log is shown.
const tailLines = 10

func (c *child) tail() string {
	text, err := os.ReadFile(c.log)
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

// kill ends the child as kill -9 does: it has no time to save or say anything.
func (c *child) kill() {
	_ = c.command.Process.Kill() // an error says that it has ended by itself
	<-c.ended
	_ = c.stdin.Close()
}

// stop ends the child and waits for it.
func (c *child) stop() {
	_ = c.stdin.Close()
	select {
	case <-c.ended:
		return
	case <-time.After(endTime):
		c.kill()
	}
}
