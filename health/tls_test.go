package health

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"slices"
	"testing"
	"time"
)

// certifier signs certificates of endpoints.
type certifier struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newCertifier(t testing.TB) certifier {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"www.ok.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certifier{key, certificate}
}

// sign gives a certificate for www.ok.test and the loopback addresses, valid from and to these times
// from now.
func (a certifier) sign(t testing.TB, from, to time.Duration, use x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "endpoint"},
		NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to),
		DNSNames:    []string{"www.ok.test"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{use},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// secured serves inside TLS.
func secured(config *tls.Config, serve func(net.Conn)) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		secure := tls.Server(c, config)
		defer secure.Close()
		if secure.Handshake() == nil {
			serve(secure)
		}
	}
}

func TestHTTPSProbeTellsTheCause(t *testing.T) {
	ours, theirs := newCertifier(t), newCertifier(t)
	const server = x509.ExtKeyUsageServerAuth
	good := ours.sign(t, -time.Hour, time.Hour, server)
	with := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	page := func(c net.Conn) { saysTo(c, okHead+"\r\nOK") }
	asksBack := with(good)
	asksBack.ClientAuth = tls.RequireAnyClientCert
	old := with(good)
	old.MaxVersion = tls.VersionTLS10
	old.MinVersion = tls.VersionTLS10

	for _, c := range []struct {
		name, host string
		serve      func(*net.TCPConn)
		want       string
	}{
		{"good, by address", "", secured(with(good), page), ""},
		{"good, by name", "www.ok.test", secured(with(good), page), ""},
		{"good, by name and port", "www.ok.test:8443", secured(with(good), page), ""},
		{"wrong name", "www.other.test", secured(with(good), page), "tls: name mismatch"},
		{"expired", "", secured(with(ours.sign(t, -2*time.Hour, -time.Hour, server)), page), "tls: certificate expired"},
		{"not yet valid", "", secured(with(ours.sign(t, time.Hour, 2*time.Hour, server)), page), "tls: certificate not yet valid"},
		{"not for servers", "", secured(with(ours.sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageClientAuth)), page), "tls: certificate invalid"},
		{"signed by another", "", secured(with(theirs.sign(t, -time.Hour, time.Hour, server)), page), "tls: unknown authority"},
		{"signed by itself", "", secured(with(tls.Certificate{Certificate: [][]byte{theirs.certificate.Raw}, PrivateKey: theirs.key}), page), "tls: unknown authority"},
		{"wants our certificate", "", secured(asksBack, page), "tls: certificate required"},
		{"speaks only an old version", "", secured(old, page), "tls: protocol version not supported"},
		{"speaks no TLS", "", says(okHead + "\r\n"), "tls: not TLS"},
		{"hangs before the handshake", "", hangs, "timeout after 300ms"},
		{"hangs after the handshake", "", secured(with(good), func(c net.Conn) { c.Read(make([]byte, 1)); hangsOn(c) }), "timeout after 300ms"},
		{"closes in the handshake", "", func(c *net.TCPConn) { c.CloseWrite(); hangs(c) }, "connection closed"},
		{"resets in the handshake", "", func(c *net.TCPConn) { c.Read(make([]byte, 1)); c.SetLinger(0) }, "connection reset"},
		{"closes after the handshake", "", secured(with(good), func(c net.Conn) { saysTo(c, "") }), "connection closed"},
		{"not HTTP inside", "", secured(with(good), func(c net.Conn) { saysTo(c, "+OK POP3\r\n") }), "bad response: not HTTP"},
		{"bad status", "", secured(with(good), func(c net.Conn) { saysTo(c, "HTTP/1.1 500 No\r\n\r\n") }), "status 500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := NewOutside()
			o.roots = x509.NewCertPool()
			o.roots.AddCert(ours.certificate)
			for _, ip := range []string{"127.0.0.1", "::1"} {
				at := endpoint(t, ip, c.serve)
				page := HTTP{TLS: true, Port: at.Port(), Host: c.host, Body: Text{Plain: "OK"}, Status: mustStatus(t, "200")}
				check := Check{Kind: page, Timeout: time.Minute}
				if c.want == "timeout after 300ms" {
					check.Timeout = 300 * time.Millisecond
				}
				if got := o.Probe(t.Context(), at.Addr(), check); got.OK != (c.want == "") || got.Cause != c.want {
					t.Errorf("on %s: ok %v, cause %q, want cause %q", ip, got.OK, got.Cause, c.want)
				}
			}
		})
	}
}

func TestHTTPSProbeTrustsOnlyTheSystemsRoots(t *testing.T) {
	good := newCertifier(t).sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageServerAuth)
	at := endpoint(t, "127.0.0.1", secured(&tls.Config{Certificates: []tls.Certificate{good}}, hangsOn))
	got := NewOutside().Probe(t.Context(), at.Addr(), Check{Kind: HTTP{TLS: true, Port: at.Port()}, Timeout: time.Minute})
	if got.OK || got.Cause != "tls: unknown authority" {
		t.Errorf("%+v, want the cause %q", got, "tls: unknown authority")
	}
}

// A handshake that was made is a success, however the endpoint parts afterwards: whether its reset comes before our
// goodbye is a matter of luck.
func TestTLSProbeIsDoneWithTheHandshake(t *testing.T) {
	good := newCertifier(t).sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageServerAuth)
	at := endpoint(t, "127.0.0.1", func(c *net.TCPConn) {
		secured(&tls.Config{Certificates: []tls.Certificate{good}}, func(net.Conn) {
			c.SetLinger(0)
			c.Close()
		})(c)
	})
	check := Check{Kind: TLS{Port: at.Port(), Trust: Trust{Blind: true}}, Timeout: time.Minute}
	o := NewOutside()
	for n := range 200 {
		if got := o.Probe(t.Context(), at.Addr(), check); !got.OK {
			t.Fatalf("probe %d: %+v", n, got)
		}
	}
}

// TestHello holds what the endpoint gets to see of a TLS handshake.
func TestHello(t *testing.T) {
	good := newCertifier(t).sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageServerAuth)
	for host, want := range map[string]string{
		"": "", "192.0.2.1": "", "www.ok.test": "www.ok.test", "www.ok.test:8443": "www.ok.test",
	} {
		hello := make(chan *tls.ClientHelloInfo, 1)
		config := &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			hello <- h
			return &good, nil
		}}
		at := endpoint(t, "127.0.0.1", secured(config, hangsOn))
		NewOutside().Probe(t.Context(), at.Addr(), Check{Kind: HTTP{TLS: true, Port: at.Port(), Host: host}, Timeout: time.Minute})
		got := <-hello
		if got.ServerName != want || !slices.Equal(got.SupportedProtos, []string{"http/1.1"}) {
			t.Errorf("host %q: server name %q, protocols %q; want %q and http/1.1", host, got.ServerName, got.SupportedProtos, want)
		}
	}
}
