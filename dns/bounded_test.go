package dns

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// TestBoundedListenerClosesWhoWasServedTheLongestAgo: with two of one source, and three of all.
func TestBoundedListenerClosesWhoWasServedTheLongestAgo(t *testing.T) {
	plain, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewBounded(plain, 3, 2)
	defer l.Close()
	enter := func(source string) (client, inside net.Conn) {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
		client, err := d.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if inside, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close(); inside.Close() })
		return client, inside
	}
	closed := func(client net.Conn) bool {
		_ = client.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := client.Read(make([]byte, 1))
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	first, firstInside := enter("127.0.0.1")
	second, _ := enter("127.0.0.1")
	Served(firstInside)
	third, thirdInside := enter("127.0.0.1")
	if closed(first) || !closed(second) || closed(third) {
		t.Error("of one source with too many, another than the one that was served the longest ago was closed")
	}
	enter("127.0.0.2")
	Served(firstInside)
	enter("127.0.0.3")
	if closed(first) || !closed(third) {
		t.Error("of too many, another than the one that was served the longest ago was closed")
	}
	_ = firstInside.Close()
	if !closed(first) {
		t.Error("what was closed is open")
	}
	if n := len(l.open.guests); n != 2 {
		t.Errorf("%d connections are counted, want 2", n)
	}
	_ = thirdInside.Close() // again: it was put out before
	if n := len(l.open.guests); n != 2 {
		t.Errorf("%d connections are counted after one that was put out has ended, want 2", n)
	}
}
