package main

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
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
