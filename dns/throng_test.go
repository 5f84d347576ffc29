package dns_test

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"gslb/dns"
)

// Connections of one source make room for its own, by HTTPS as by TCP.
func TestTooManyConnectionsOfOneSource(t *testing.T) {
	e := serveAll(t, text)
	const most = 128
	packet, _ := question(t, "www.ok.test. A")
	binary.BigEndian.PutUint16(packet, 0)
	var first net.Conn
	for i := range most + 1 {
		conn, err := net.Dial("tcp", e.at[dns.HTTPS])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i == 0 {
			first = conn
		}
	}
	_ = first.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the first of too many connections is open still: %v", err)
	}
	if _, _, err := e.ask(t, dns.HTTPS, packet); err != nil {
		t.Errorf("one more by HTTPS: %v", err)
	}
}

// On a wildcard address QUIC answers from where it was asked, and leaves IPv4 alone on the IPv6 one.
func TestQUICOnWildcardAddresses(t *testing.T) {
	e := serveAll(t, text)
	greeting := append([]byte{0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0}, make([]byte, 1200)...) // of a version that nobody speaks
	for _, tc := range []struct {
		listen string
		asked  []string
		deaf   string
	}{{"0.0.0.0:0", []string{"127.0.0.1", "127.0.0.9", "127.9.9.9"}, "::1"}, {"[::]:0", []string{"::1"}, "127.0.0.1"}} {
		e.doors = dns.Doors{QUIC: dns.Secure{Listen: []netip.AddrPort{netip.MustParseAddrPort(tc.listen)}, Certificate: e.certificate(t)}}
		if err := e.server.Listen(e.doors); err != nil {
			t.Fatal(err)
		}
		port := e.server.Addresses()[0].Port()
		reached := func(a string) bool {
			conn, err := net.Dial("udp", netip.AddrPortFrom(netip.MustParseAddr(a), port).String()) // it takes no answer from elsewhere
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(greeting); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			n, err := conn.Read(make([]byte, 1500))
			return err == nil && n > 20
		}
		for _, a := range tc.asked {
			if !reached(a) {
				t.Errorf("%s on %s does not answer", a, tc.listen)
			}
		}
		if reached(tc.deaf) {
			t.Errorf("%s on %s answers", tc.deaf, tc.listen)
		}
	}
}
