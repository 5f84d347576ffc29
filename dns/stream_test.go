package dns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"gslb/dns"
)

// framed is a message behind its length.
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
}

// unframed splits what was sent into the messages that are whole, up to the first that is no request.
func unframed(stream []byte) (messages [][]byte) {
	for len(stream) >= 2 {
		n := int(binary.BigEndian.Uint16(stream))
		if len(stream) < 2+n {
			break
		}
		message := stream[2 : 2+n]
		if n < 12 || message[2]&0x80 != 0 {
			break
		}
		messages, stream = append(messages, message), stream[2+n:]
	}
	return messages
}

// FuzzConnection sends anything over a connection, in two parts. Each whole request gets its reply, in the order in
// which they came, up to the first that is none, and then the connection ends.
func FuzzConnection(f *testing.F) {
	_, addresses := serve(f, "127.0.0.1")
	s, responder := snapshot(f), dns.NewResponder("ns1", "test")
	for _, words := range []string{"www.ok.test. A", "big.ok.test. TXT +edns=4096 +nsid", "www.ok.test. A +keepalive", "ok.test. AXFR", "many.ok.test. AAAA"} {
		packet, _ := question(f, words)
		one := framed(packet)
		f.Add(one, 0)
		f.Add(bytes.Repeat(one, 3), 1)
		f.Add(append(bytes.Clone(one), one[:len(one)-1]...), len(one))
		f.Add(append(bytes.Clone(one), 0, 0), len(one)+1)
		f.Add(append(bytes.Clone(one), 0xff, 0xff, 0), 3)
		f.Add(append(framed(make([]byte, 3000)), one...), 2000)
	}
	port := 0
	f.Fuzz(func(t *testing.T, stream []byte, first int) {
		if len(stream) > 1<<16 {
			t.Skip("long, and no other")
		}
		port++ // of addresses there are more than of ports, and each is in use for a while after
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, byte(os.Getpid()), byte(port >> 8), byte(port) | 1}), 0)
		dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(from), Timeout: 5 * time.Second}
		conn, err := dialer.DialContext(t.Context(), "tcp", addresses[0].String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(9 * time.Second)) // before the server would tire
		go func() {
			cut := min(max(first, 0), len(stream))
			_, _ = conn.Write(stream[:cut]) // the server may have ended the connection already
			_, _ = conn.Write(stream[cut:])
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		got, err := io.ReadAll(conn)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the connection did not end: %d octets came", len(got))
		}
		asked := unframed(stream)
		for i, message := range asked {
			reply := responder.Respond(s, dns.Request{Packet: message, Source: netip.MustParseAddr("127.0.0.1"), Over: dns.TCP, Now: time.Now()}, nil)
			if len(got) < 2 && err != nil {
				return // the connection was reset, for more was sent than was wanted: what was under way is lost
			}
			n := 2 + len(reply)
			if len(got) < n || int(binary.BigEndian.Uint16(got)) != len(reply) || !bytes.Equal(got[2:14], reply[:12]) {
				t.Fatalf("reply %d of %d to %x: got %x, want the length and header of %x", i, len(asked), message, got[:min(len(got), n)], reply)
			}
			got = got[n:]
		}
		if len(got) > 0 {
			t.Fatalf("%d octets were sent that nobody asked for: %x", len(got), got[:min(len(got), 64)])
		}
	})
}
