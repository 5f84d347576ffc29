package dns_test

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gslb/dns"
	"gslb/dns/steer"
)

// Clients come at every moment, also while a door with TLS inside is opened or closed.
func TestHandshakesWhileDoorsOpenAndClose(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writePair(t, cert, key, 1)
	certificate, err := dns.LoadCertificate(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot(t)
	server := dns.NewServer(dns.NewResponder("ns1", "test"), func() *steer.Snapshot { return s }, slog.New(slog.DiscardHandler))
	doors := dns.Doors{TLS: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, Certificate: certificate}
	if err := server.Listen(doors); err != nil {
		t.Fatal(err)
	}
	doors.TLS = server.Addresses()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	done := make(chan struct{})
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if conn, err := tls.Dial("tcp", doors.TLS[0].String(), &tls.Config{InsecureSkipVerify: true}); err == nil {
					conn.Close()
				}
			}
		})
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if err := server.Listen(doors); err != nil {
			t.Log(err) // a client has just got the port for its own end
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	clients.Wait()
}

// A client inside TLS that reads nothing more is not told of the end, for that would wait for it.
func TestHangsUpAtOnce(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writePair(t, cert, key, 1)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe() // it has no buffer
		defer theirs.Close()
		server, client := tls.Server(ours, &tls.Config{Certificates: []tls.Certificate{pair}, SessionTicketsDisabled: true}), tls.Client(theirs, &tls.Config{InsecureSkipVerify: true})
		go client.Handshake()
		if err := server.Handshake(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begin := time.Now()
		dns.HangUp(server)
		if took := time.Since(begin); took > 0 {
			t.Errorf("it took %s", took)
		}
	})
}
