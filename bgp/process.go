package bgp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endGrace is how long a speaker that is told to end may take.
const endGrace = 3 * time.Second

// process is a speaker that runs.
type process struct {
	in   inlet
	out  outlet
	kill func()
	wait func() error // why it ended, in words; called once
}

// inlet is the end of a pipe that messages go into.
type inlet interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// outlet is the end of a pipe that messages come out of.
type outlet interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// started runs the command with pipes for its standard input and output.
func started(ctx context.Context, command func(context.Context) *exec.Cmd) (*process, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cmd := command(ctx)
	cmd.Env = append(cmd.Environ(), "GODEBUG=multipathtcp=0") // multipath sockets, which Go listens with, lack TTL and signatures
	p, theirs, err := piped(cmd)
	if err != nil {
		cancel()
		return nil, err
	}
	complaint := &tail{}
	if cmd.Stderr == nil {
		cmd.Stderr = complaint
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for us alone: we end the speaker after the peers
	}
	cmd.WaitDelay = endGrace
	err = cmd.Start()
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		cancel()
		_ = p.in.Close()
		_ = p.out.Close()
		return nil, fmt.Errorf("start speaker: %w", err)
	}
	p.kill = func() { _ = cmd.Process.Kill() } // it may have ended
	p.wait = func() error {
		defer cancel()
		return complaint.explain(cmd.Wait())
	}
	return p, nil
}

// piped gives the command's pipes, our ends and those of the child.
func piped(cmd *exec.Cmd) (*process, []*os.File, error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("pipe to speaker: %w", err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		_ = in.Close()
		return nil, nil, fmt.Errorf("pipe from speaker: %w", err)
	}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	return &process{in: in, out: out}, []*os.File{stdin, stdout}, nil
}

// end ends the process: at once, or by the end of its input first. It tells why the process ended.
func (p *process) end(atOnce bool) error {
	_ = p.in.Close()
	_ = p.out.Close()
	timer := time.AfterFunc(endGrace, p.kill)
	defer timer.Stop()
	if atOnce {
		p.kill()
	}
	return p.wait()
}

// tail keeps the last that a process wrote to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLength = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailLength; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// explain adds to the way a process ended the line that tells most: that of a panic, or the last.
func (t *tail) explain(err error) error {
	if err == nil {
		err = errors.New("it ended by itself")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var word string
	for line := range strings.Lines(string(bytes.ToValidUTF8(t.text, []byte("?")))) {
		line = strings.TrimSpace(line)
		if line != "" {
			word = line
		}
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			break
		}
	}
	if word == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, word)
}
