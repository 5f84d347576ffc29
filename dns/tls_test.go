package dns_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
	"gslb/dns/steer"
)

// writePair writes a new certificate for 127.0.0.1 and its key.
func writePair(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "ns1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		write(t, file, string(pem.EncodeToMemory(block)))
	}
}

// serveTLS starts a server that speaks TLS.
func serveTLS(t *testing.T) (address string) {
	t.Helper()
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writePair(t, cert, key, 1)
	log := slog.New(slog.DiscardHandler)
	certificate, err := dns.LoadCertificate(cert, key, log)
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot(t)
	server := dns.NewServer(dns.NewResponder("ns1", "test"), func() *steer.Snapshot { return s }, log)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.Listen(dns.Doors{TLS: dns.Secure{Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, Certificate: certificate}}); err != nil {
		t.Fatal(err)
	}
	return server.Addresses()[0].String()
}

func TestAnswersInsideTLS(t *testing.T) {
	address := serveTLS(t)
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"dot"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != "dot" {
		t.Errorf("protocol %q", got)
	}
	for range 3 { // on one connection
		packet, _ := question(t, "www.ok.test. A")
		if got := overTCP(t, conn, packet); got != "NOERROR aa\nanswer: www.ok.test. 300 IN A 192.0.2.1\n" {
			t.Error(got)
		}
	}
}

func TestPadsInsideTLSAlone(t *testing.T) {
	m := new(mdns.Msg)
	m.SetQuestion("www.ok.test.", mdns.TypeA)
	m.Id = 0 // as QUIC wants it
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []mdns.EDNS0{&mdns.EDNS0_PADDING{Padding: make([]byte, 40)}}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot(t)
	for over, want := range map[dns.Transport]int{dns.TCP: 56, dns.TLS: 468, dns.HTTPS: 468, dns.QUIC: 468} {
		reply := dns.NewResponder("ns1", "test").Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over, Now: noon}, nil)
		if len(reply) != want || new(mdns.Msg).Unpack(reply) != nil {
			t.Errorf("over %v: %d octets, want %d: %x", over, len(reply), want, reply)
		}
	}
}

func TestRenewedCertificateIsTaken(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writePair(t, cert, key, 1)
	c, err := dns.LoadCertificate(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, step := range []struct {
		name  string
		write func()
		pass  time.Duration
		want  int64
	}{
		{"unchanged", func() {}, time.Hour, 1},
		{"renewed, but not looked at yet", func() { writePair(t, cert, key, 2) }, 10 * time.Millisecond, 1},
		{"renewed", func() {}, time.Second, 2},
		{"damaged", func() { write(t, cert, "nonsense") }, time.Second, 2},
		{"still damaged", func() {}, time.Second, 2},
		{"mended", func() { writePair(t, cert, key, 3) }, time.Second, 3},
	} {
		step.write()
		now = now.Add(step.pass)
		if got := c.Current(now).Leaf.SerialNumber.Int64(); got != step.want {
			t.Errorf("%s: certificate %d, want %d", step.name, got, step.want)
		}
	}
}

// A renewed key that only root may read, at first, is taken when its mode has changed, which no time of the file tells.
func TestUnreadableCertificateIsTriedAgain(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writePair(t, cert, key, 1)
	var log strings.Builder
	c, err := dns.LoadCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	writePair(t, cert, key, 2)
	secret, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	renewed := now.Add(-time.Minute)
	writeAt := func(text string) { // as a mode does it, this changes nothing but what is read
		write(t, key, text)
		if err := os.Chtimes(key, renewed, renewed); err != nil {
			t.Fatal(err)
		}
	}
	writeAt(strings.Repeat("x", len(secret)))
	for range 3 {
		now = now.Add(time.Minute)
		if got := c.Current(now).Leaf.SerialNumber.Int64(); got != 1 {
			t.Errorf("certificate %d without its key", got)
		}
	}
	if got := strings.Count(log.String(), "not read again"); got != 1 {
		t.Errorf("told %d times:\n%s", got, &log)
	}
	writeAt(string(secret))
	if got := c.Current(now.Add(time.Minute)).Leaf.SerialNumber.Int64(); got != 2 {
		t.Errorf("certificate %d", got)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNoCertificateNoServer(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	if _, err := dns.LoadCertificate(cert, key, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a certificate that is not there")
	}
	writePair(t, cert, key, 1)
	writePair(t, cert, filepath.Join(folder, "other.pem"), 2)
	if _, err := dns.LoadCertificate(cert, key, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a key of another certificate")
	}
}

// A client that does not finish its handshake keeps nobody else waiting.
func TestSilentHandshakeHindersNobody(t *testing.T) {
	address := serveTLS(t)
	silent, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	packet, _ := question(t, "www.ok.test. A")
	overTCP(t, conn, packet)
}
