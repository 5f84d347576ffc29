package dns_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// wire is a connection below TLS that can hold back what is written, and keeps what was read.
type wire struct {
	net.Conn
	hold bool
	held bytes.Buffer
	read bytes.Buffer
}

func (w *wire) Write(b []byte) (int, error) {
	if w.hold {
		return w.held.Write(b)
	}
	return w.Conn.Write(b)
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.read.Write(b[:n])
	return n, err
}

// records counts the TLS records in what was read.
func (w *wire) records() (n int) {
	for b := w.read.Bytes(); len(b) >= 5; n++ {
		b = b[min(len(b), 5+int(binary.BigEndian.Uint16(b[3:]))):]
	}
	return n
}

// inside connects by TLS, and is done with the handshake.
func inside(t *testing.T) (*tls.Conn, *wire) {
	t.Helper()
	conn, err := net.Dial("tcp", serveTLS(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	w := &wire{Conn: conn}
	c := tls.Client(w, trusting("dot"))
	packet, _ := question(t, "www.ok.test. A")
	overTCP(t, c, packet) // what belongs to the handshake comes before the answer
	return c, w
}

// Requests that come together are answered together also where each has a record of its own.
func TestAnswersInsideTLSAreGathered(t *testing.T) {
	c, w := inside(t)
	const many = 20
	packet, _ := question(t, "www.ok.test. A")
	w.hold = true
	for range many {
		if _, err := c.Write(framed(packet)); err != nil {
			t.Fatal(err)
		}
	}
	w.read.Reset()
	if _, err := w.Conn.Write(w.held.Bytes()); err != nil {
		t.Fatal(err)
	}
	for range many {
		if got := readTCP(t, c); !strings.HasPrefix(got, "NOERROR") {
			t.Fatal(got)
		}
	}
	if n := w.records(); n > 3 {
		t.Errorf("%d answers came in %d records", many, n)
	}
}

// How requests are cut into records is of no matter, nor when those come.
func TestRequestsInsideTLSInPieces(t *testing.T) {
	c, w := inside(t)
	packet, _ := question(t, "www.ok.test. A")
	stream := bytes.Repeat(framed(packet), 10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i, b := range stream {
			w.hold = true
			_, _ = c.Write([]byte{b})
			if i%7 == 0 || i == len(stream)-1 { // some records come alone, others together
				_, _ = w.Conn.Write(w.held.Bytes()) // its loss is noticed below
				w.held.Reset()
			}
		}
	}()
	for range 10 {
		var length [2]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, binary.BigEndian.Uint16(length[:]))); err != nil {
			t.Fatal(err)
		}
	}
	<-ended
}
