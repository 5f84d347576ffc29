package dns_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"
	"github.com/quic-go/quic-go"

	"gslb/dns"
	"gslb/dns/steer"
)

// trusting is a client that believes every certificate.
func trusting(protocol string) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}
}

// everyDoor is a server that is open by all transports.
type everyDoor struct {
	server *dns.Server
	doors  dns.Doors
	at     map[dns.Transport]string
	pair   [2]string // files of the certificate and its key
}

func serveAll(t *testing.T, text string) *everyDoor {
	t.Helper()
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	folder := t.TempDir()
	e := &everyDoor{at: map[dns.Transport]string{}, pair: [2]string{filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")}}
	writePair(t, e.pair[0], e.pair[1], 1)
	s := snapshotOf(t, text)
	e.server = dns.NewServer(dns.NewResponder("ns1", "test"), func() *steer.Snapshot { return s }, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := e.server.Close(); err != nil {
			t.Error(err)
		}
	})
	secure := func(address string) dns.Secure {
		return dns.Secure{Listen: []netip.AddrPort{netip.MustParseAddrPort(address)}, Certificate: e.certificate(t)}
	}
	e.doors = dns.Doors{
		Plain: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, TLS: secure("127.0.0.2:0"),
		HTTPS: dns.HTTP{Secure: secure("127.0.0.3:0"), Path: "/dns-query"}, QUIC: secure("127.0.0.4:0"),
	}
	if err := e.server.Listen(e.doors); err != nil {
		t.Fatal(err)
	}
	over := [...]dns.Transport{dns.TCP, dns.TLS, dns.HTTPS, dns.QUIC}
	for i, a := range e.server.Addresses() {
		e.at[over[i]] = a.String()
	}
	e.at[dns.UDP] = e.at[dns.TCP]
	return e
}

func (e *everyDoor) certificate(t *testing.T) *dns.Certificate {
	t.Helper()
	c, err := dns.LoadCertificate(e.pair[0], e.pair[1], slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask gives the replies to a packet by a transport, and the serial number of the certificate that was shown.
func (e *everyDoor) ask(t *testing.T, over dns.Transport, packet []byte) (replies [][]byte, serial int64, err error) {
	t.Helper()
	switch over {
	case dns.HTTPS:
		return e.askHTTPS(t, packet)
	case dns.QUIC:
		return e.askQUIC(t, packet)
	}
	var conn net.Conn
	if over == dns.TLS {
		inside, err := tls.Dial("tcp", e.at[over], trusting("dot"))
		if err != nil {
			return nil, 0, err
		}
		serial = inside.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
		conn = inside
	} else if conn, err = net.Dial(over.String(), e.at[over]); err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if over == dns.UDP {
		if _, err := conn.Write(packet); err != nil {
			return nil, 0, err
		}
		room := make([]byte, 65535)
		n, err := conn.Read(room)
		return [][]byte{room[:n]}, 0, err
	}
	if _, err := conn.Write(framed(packet)); err != nil {
		return nil, 0, err
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, 0, err
	}
	reply := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err = io.ReadFull(conn, reply)
	return [][]byte{reply}, serial, err
}

func (e *everyDoor) askHTTPS(t *testing.T, packet []byte) (replies [][]byte, serial int64, err error) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: trusting("h2"), ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: time.Minute}
	resp, err := client.Post("https://"+e.at[dns.HTTPS]+"/dns-query", "application/dns-message", bytes.NewReader(packet))
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return nil, 0, errors.New(resp.Status)
	}
	return [][]byte{reply}, resp.TLS.PeerCertificates[0].SerialNumber.Int64(), err
}

func (e *everyDoor) askQUIC(t *testing.T, packet []byte) (replies [][]byte, serial int64, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := quic.DialAddr(ctx, e.at[dns.QUIC], trusting("doq"), nil)
	if err != nil {
		return nil, 0, err
	}
	defer conn.CloseWithError(0, "")
	stream, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return nil, 0, err
	}
	if _, err := stream.Write(framed(packet)); err != nil {
		return nil, 0, err
	}
	_ = stream.Close()
	all, err := io.ReadAll(stream)
	if err != nil {
		return nil, 0, err
	}
	for len(all) >= 2 {
		n := int(binary.BigEndian.Uint16(all))
		replies, all = append(replies, all[2:2+n]), all[2+n:]
	}
	return replies, conn.ConnectionState().TLS.PeerCertificates[0].SerialNumber.Int64(), nil
}

// shown is what the one reply says.
func (e *everyDoor) shown(t *testing.T, over dns.Transport, words string) string {
	t.Helper()
	packet, _ := question(t, words)
	binary.BigEndian.PutUint16(packet, 0) // as QUIC wants it, and HTTPS advises
	replies, _, err := e.ask(t, over, packet)
	if err != nil {
		return err.Error()
	}
	m := new(mdns.Msg)
	if len(replies) != 1 || m.Unpack(replies[0]) != nil {
		return "no one reply"
	}
	return show(m)
}

var every = []dns.Transport{dns.UDP, dns.TCP, dns.TLS, dns.HTTPS, dns.QUIC}

// What is answered does not depend on how it was asked: neither who is given what, nor what is refused. In particular
// ANY gives no more than one RRset, and reasons are for those who may ask.
func TestEveryTransportGivesTheSame(t *testing.T) {
	e := serveAll(t, strings.Replace(text, "explain: [127.0.0.0/8]", "explain: [192.0.2.0/24]", 1))
	for _, tc := range []struct{ ask, want string }{
		{"www.ok.test. A", "NOERROR aa\nanswer: www.ok.test. 300 IN A 192.0.2.1\n"},
		{"www.ok.test. AAAA", "NOERROR aa\nanswer: www.ok.test. 300 IN AAAA 2001:db8::1\n"},
		{"no.ok.test. A", "NXDOMAIN aa\nauthority: ok.test. 60 IN SOA ns1.ok.test. hostmaster.ok.test. 7 3600 600 604800 60\n"},
		{"example. A", "REFUSED\n"},
		{"cdn.ok.test. ANY", "NOERROR aa\nanswer: cdn.ok.test. 20 IN HINFO \"RFC8482\" \"\"\n"},
		{"ns1.ok.test. ANY", "NOERROR aa\nanswer: ns1.ok.test. 3600 IN A 192.0.2.53\n"},
		{"www.ok.test. TXT CH", "REFUSED\n"},
		{"www.ok.test. ANY CH", "REFUSED\n"},
		{"id.server. TXT CH", "NOERROR aa\nanswer: id.server. 0 CH TXT \"ns1\"\n"},
	} {
		for _, over := range every {
			if got := e.shown(t, over, tc.ask); got != tc.want {
				t.Errorf("%s over %v:\n%swant:\n%s", tc.ask, over, got, tc.want)
			}
		}
	}
	e = serveAll(t, text)
	for _, over := range every {
		if got := e.shown(t, over, "www.ok.test. TXT CH"); !strings.Contains(got, "client=127.0.0.1 via=source") {
			t.Errorf("reasons over %v:\n%s", over, got)
		}
		if got := e.shown(t, over, "cdn.ok.test. A +ecs=203.0.113.0/24"); !strings.Contains(got, "A 198.51.100.") || !strings.Contains(got, "203.0.113.0/24/24") {
			t.Errorf("a client's network over %v:\n%s", over, got)
		}
	}
}

// How long a connection may be silent is told by the transports that have no words of their own for it; over QUIC the
// question alone is an offence (RFC 9250 section 5.5.2).
func TestKeepaliveByTransport(t *testing.T) {
	e := serveAll(t, text)
	for over, want := range map[dns.Transport]bool{dns.UDP: false, dns.TCP: true, dns.TLS: true, dns.HTTPS: false} {
		if got := e.shown(t, over, "www.ok.test. A +keepalive"); !strings.HasPrefix(got, "NOERROR") || strings.Contains(strings.ToLower(got), "keepalive") != want {
			t.Errorf("over %v:\n%s", over, got)
		}
	}
	closed := func(words string, id uint16) bool {
		packet, _ := question(t, words)
		binary.BigEndian.PutUint16(packet, id)
		_, _, err := e.ask(t, dns.QUIC, packet)
		var ended *quic.ApplicationError
		return errors.As(err, &ended) && ended.ErrorCode == 2
	}
	for _, words := range []string{"www.ok.test. A +keepalive", "ok.test. AXFR +keepalive"} {
		if !closed(words, 0) {
			t.Errorf("%s over QUIC did not end the connection", words)
		}
	}
	for _, words := range []string{"www.ok.test. A", "ok.test. AXFR"} {
		if !closed(words, 1) {
			t.Errorf("%s with a message id over QUIC did not end the connection", words)
		}
	}
}

// A zone goes out over streams; by HTTPS a request has but one message for an answer.
func TestTransfersByTransport(t *testing.T) {
	e := serveAll(t, strings.Replace(text, "keys: [xfr]", "", 1))
	packet, _ := question(t, "ok.test. AXFR")
	binary.BigEndian.PutUint16(packet, 0)
	replies, _, err := e.ask(t, dns.QUIC, packet)
	if err != nil {
		t.Fatal(err)
	}
	var records []mdns.RR
	for _, reply := range replies {
		m := new(mdns.Msg)
		if err := m.Unpack(reply); err != nil {
			t.Fatal(err)
		}
		records = append(records, m.Answer...)
	}
	last := len(records) - 1
	services := slices.ContainsFunc(records, func(rr mdns.RR) bool { return strings.Contains(rr.String(), "www.ok.test.\t300\tIN\tA\t192.0.2.1") })
	if !services || records[0].Header().Rrtype != mdns.TypeSOA || records[last].Header().Rrtype != mdns.TypeSOA {
		t.Errorf("%d records in %d messages: %v", last+1, len(replies), records)
	}
	for _, over := range []dns.Transport{dns.UDP, dns.HTTPS} {
		if got := e.shown(t, over, "ok.test. AXFR"); !strings.HasPrefix(got, "NOTIMP") {
			t.Errorf("over %v: %s", over, got)
		}
	}
}

// Every transport shows the certificate that is in force, and not one address is closed for it.
func TestEveryTransportTakesANewCertificate(t *testing.T) {
	e := serveAll(t, text)
	packet, _ := question(t, "www.ok.test. A")
	binary.BigEndian.PutUint16(packet, 0)
	kept, err := quic.DialAddr(t.Context(), e.at[dns.QUIC], trusting("doq"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.CloseWithError(0, "")
	writePair(t, e.pair[0], e.pair[1], 2)
	fresh := e.certificate(t)
	e.doors.TLS.Certificate, e.doors.HTTPS.Certificate, e.doors.QUIC.Certificate = fresh, fresh, fresh
	if err := e.server.Listen(e.doors); err != nil {
		t.Fatal(err)
	}
	for _, over := range []dns.Transport{dns.TLS, dns.HTTPS, dns.QUIC} {
		if _, serial, err := e.ask(t, over, packet); err != nil || serial != 2 {
			t.Errorf("over %v: certificate %d: %v", over, serial, err)
		}
	}
	if kept.Context().Err() != nil {
		t.Error("the connection that was open is closed")
	}
}

// A door is taken away alone, and comes back alone: a connection through another goes on.
func TestDoorsComeAndGoOneByOne(t *testing.T) {
	e := serveAll(t, text)
	all := e.doors
	kept, err := net.Dial("tcp", e.at[dns.TCP])
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	goesOn := func() {
		t.Helper()
		packet, _ := question(t, "www.ok.test. A")
		if got := overTCP(t, kept, packet); !strings.HasPrefix(got, "NOERROR") {
			t.Errorf("the connection that was open: %s", got)
		}
	}
	for _, step := range []struct {
		over  dns.Transport
		close func()
	}{
		{dns.QUIC, func() { e.doors.QUIC = dns.Secure{} }},
		{dns.HTTPS, func() { e.doors.HTTPS = dns.HTTP{} }},
		{dns.TLS, func() { e.doors.TLS = dns.Secure{} }},
	} {
		if got := e.shown(t, step.over, "www.ok.test. A"); !strings.HasPrefix(got, "NOERROR") {
			t.Errorf("over %v: %s", step.over, got)
		}
		step.close()
		if err := e.server.Listen(e.doors); err != nil {
			t.Fatal(err)
		}
		for at := range e.server.Addresses() {
			if e.server.Addresses()[at].String() == e.at[step.over] {
				t.Errorf("%v is served still", step.over)
			}
		}
		goesOn()
	}
	if n := len(e.server.Addresses()); n != 1 {
		t.Errorf("%d addresses are left", n)
	}
	if err := e.server.Listen(all); err != nil {
		t.Fatal(err)
	}
	goesOn()
	for i, a := range e.server.Addresses() {
		e.at[[...]dns.Transport{dns.TCP, dns.TLS, dns.HTTPS, dns.QUIC}[i]] = a.String()
	}
	for _, over := range every {
		if got := e.shown(t, over, "www.ok.test. A"); !strings.HasPrefix(got, "NOERROR") {
			t.Errorf("over %v, which came back: %s", over, got)
		}
	}
}
