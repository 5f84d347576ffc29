package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb/config"
	"gslb/dns"
)

// control reads a control frame of Frame Streams, and gives its kind.
func control(t *testing.T, r io.Reader) uint32 {
	t.Helper()
	var head [3]uint32 // no data, the length, the kind
	if err := binary.Read(r, binary.BigEndian, &head); err != nil {
		t.Error(err)
		return 0
	}
	_, _ = io.CopyN(io.Discard, r, int64(head[1])-4)
	return head[2]
}

// A reader that fails is hung up on: whoever failed a thousand times must not hold a thousand connections of ours.
func TestTapLeavesAReaderThatFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tap")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	left := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			left <- err
			return
		}
		defer conn.Close()
		const ready, accept, start = 4, 1, 2
		if kind := control(t, conn); kind != ready {
			t.Errorf("it begins with %d", kind)
		}
		_ = binary.Write(conn, binary.BigEndian, [3]uint32{0, 4, accept})
		if kind := control(t, conn); kind != start {
			t.Errorf("it goes on with %d", kind)
		}
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, err = conn.Read(make([]byte, 1))
		left <- err
	}()
	tap := &tap{to: config.Dnstap{Socket: path}, log: slog.New(slog.DiscardHandler)}
	if !tap.write(&dns.Trace{}) {
		t.Fatal("it finds no reader")
	}
	if tap.check(errors.New("a disk is full")) || tap.stream != nil {
		t.Error("it stays with a reader that failed")
	}
	if err := <-left; err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("the connection is open still: %v", err)
	}
}

// A query log that cannot be written is told of at once, though its first line may come after a thousand questions. A pipe
// that nobody reads is one: it holds up nobody, not even the end of the server.
func TestQueryLogTellsAtOnceThatItCannotBeWritten(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for path, cause := range map[string]string{folder: "is a directory", pipe: "no such device or address", filepath.Join(folder, "queries.log"): ""} {
		var said strings.Builder
		(&queryLog{path: path, log: slog.New(slog.NewTextHandler(&said, nil))}).run(ended, dns.NewTracer(1000, 1))
		if told := strings.Contains(said.String(), "query log not written"); told != (cause != "") || !strings.Contains(said.String(), cause) {
			t.Errorf("%s: %q, want %q", path, said.String(), cause)
		}
	}
}
