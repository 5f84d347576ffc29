package dns_test

import (
	"crypto/tls"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
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
	doors := dns.Doors{TLS: dns.Secure{Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, Certificate: certificate}}
	if err := server.Listen(doors); err != nil {
		t.Fatal(err)
	}
	doors.TLS.Listen = server.Addresses()
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
				if conn, err := tls.Dial("tcp", doors.TLS.Listen[0].String(), &tls.Config{InsecureSkipVerify: true}); err == nil {
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
