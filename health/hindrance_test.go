package health

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

func TestWhoseFault(t *testing.T) {
	dialing := func(errno syscall.Errno) error {
		return &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", errno)}
	}
	for _, c := range []struct {
		err  error
		ours bool
	}{
		{dialing(syscall.EMFILE), true},
		{dialing(syscall.ENFILE), true},
		{dialing(syscall.ENOBUFS), true},
		{dialing(syscall.ENOMEM), true},
		{os.NewSyscallError("connect", syscall.EADDRNOTAVAIL), true},
		{os.NewSyscallError("connect", syscall.EPERM), true},
		{unstarted(&fs.PathError{Op: "fork/exec", Path: "x", Err: syscall.EAGAIN}), true},
		{fmt.Errorf("x: %w", hindrance("command not found")), true},
		{fileFault(&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}), true},

		{nil, false},
		{dialing(syscall.ECONNREFUSED), false},
		{dialing(syscall.ECONNRESET), false},
		{dialing(syscall.EHOSTUNREACH), false},
		{dialing(syscall.ENETUNREACH), false},
		{dialing(syscall.ETIMEDOUT), false},
		{fault("status 503"), false},
		{fileFault(&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}), false},
		{errors.New("x"), false},
	} {
		if got := hinders(c.err); got != c.ours {
			t.Errorf("%v: ours %v, want %v", c.err, got, c.ours)
		}
	}
}

func TestHindranceIsToldOnce(t *testing.T) {
	var h hindrances
	a, b := Key{Address: loopback}, Key{}
	files, ports := Result{Ours: true, Cause: "files"}, Result{Ours: true, Cause: "ports"}
	for _, c := range []struct {
		key          Key
		result       Result
		begun, ended string
	}{
		{a, Result{OK: true}, "", ""},
		{a, files, "files", ""},
		{a, files, "", ""},
		{b, files, "", ""},
		{a, Result{Cause: "status 503"}, "", ""},
		{b, ports, "ports", "files"},
		{b, Result{OK: true}, "", "ports"},
		{a, files, "files", ""},
		{a, Result{}, "", "files"}, // it left
	} {
		if begun, ended := h.note(c.key, c.result); begun != c.begun || ended != c.ended {
			t.Errorf("%+v: begun %q, ended %q, want %q, %q", c.result, begun, ended, c.begun, c.ended)
		}
	}
	if len(h.causes)+len(h.held) != 0 || h.discarded != 5 {
		t.Errorf("at the end: %+v", &h)
	}
}

// exhaustedVariable makes the test program use up its files in a process of its own.
const exhaustedVariable = "GSLB_TEST_EXHAUSTED"

// With no file to open there is no probe, and no endpoint is the worse for it.
func TestNoFilesAreLeft(t *testing.T) {
	if os.Getenv(exhaustedVariable) != "" {
		exhaust(t)
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestNoFilesAreLeft$", "-test.timeout=5m")
	c.Env = append(os.Environ(), exhaustedVariable+"=1")
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

func exhaust(t *testing.T) {
	page := responder(t) // which has files of its own
	name := datagrams(t, func(q []byte) [][]byte { q[2] |= 0x80; return [][]byte{q} })
	var targets []Target
	for _, kind := range []Kind{
		HTTP{Port: page, Status: mustStatus(t, "200")}, TCP{Port: page}, DNS{Port: name.Port(), Name: "ok.test.", Type: dns.TypeA},
		File{Path: write(t, t.TempDir(), "state", "up\n")}, Exec{Command: ListOf("true")},
	} {
		targets = append(targets, Target{Address: loopback, Name: kind.String(), Check: Check{
			Kind: kind, Interval: 50 * time.Millisecond, Timeout: time.Minute, Window: 20, Fall: 1, Rise: 1,
		}})
	}
	targets[4].Check.Interval = 5 * time.Second // a process takes its time
	var log syncBuffer
	told := func(words string) int { return strings.Count(log.String(), words) }
	var turn sync.RWMutex // held to read by whoever probes
	b, probe := NewBoard(), NewOutside().Probe
	r := NewRunner(b, func(ctx context.Context, a netip.Addr, c Check) Result {
		turn.RLock()
		defer turn.RUnlock()
		return probe(ctx, a, c)
	}, slog.New(slog.NewTextHandler(&log, nil)))
	r.Apply(targets)
	var running sync.WaitGroup
	running.Go(func() { r.Run(t.Context()) })
	await(t, "first results", func() bool {
		return count(b.Latest(), func(e Endpoint) bool { return e.Succeeding > 0 }) == len(targets)
	})
	before := failures(b)
	files := newHoard(t)
	seen := r.Gaps().Discarded
	await(t, "no files", func() bool {
		turn.Lock() // a probe that is under way gives back what it has
		files.fill(t)
		turn.Unlock()
		g := r.Gaps()
		return g.Hindered >= 4 && g.Discarded > seen+100 && told("checks cannot be made") > 0
	})
	if got := failures(b); got > before {
		t.Errorf("%d failures of endpoints were recorded: %v", got-before, b.Latest())
	}
	if n := told("checks cannot be made"); n != 1 || !strings.Contains(log.String(), `cause="too many open files"`) {
		t.Errorf("told %d times, want once:\n%s", n, log.String())
	}
	files.release()
	await(t, "files again", func() bool { return r.Gaps().Hindered == 0 && told("checks can be made again") > 0 })
	if n := told("checks can be made again"); n != 1 {
		t.Errorf("the end was told %d times, want once:\n%s", n, log.String())
	}
}

// failures is how many failures the board holds.
func failures(b *Board) (n int) {
	for _, e := range b.Latest().All() {
		n += e.Failed
	}
	return n
}

// hoard holds every file that the process may open.
type hoard struct{ files []int }

// newHoard lets the process open few files only, all of which the hoard may hold.
func newHoard(t *testing.T) *hoard {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = 256
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	h := &hoard{}
	t.Cleanup(h.release)
	return h
}

// fill opens files until none can be opened.
func (h *hoard) fill(t *testing.T) {
	for {
		switch fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err {
		case nil:
			h.files = append(h.files, fd)
		case unix.EMFILE:
			return
		default:
			t.Fatal(err)
		}
	}
}

// release closes what is held.
func (h *hoard) release() {
	for _, fd := range h.files {
		unix.Close(fd)
	}
	h.files = nil
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("still waiting for %s", what)
		}
	}
}

// syncBuffer is a buffer that a log may be written to while it is read.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write writes.
func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String is what was written so far.
func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
