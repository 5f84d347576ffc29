package health

import (
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
	"google.golang.org/grpc/health"
)

// BenchmarkProbe is one probe of each kind that needs no program, both ends in this process.
func BenchmarkProbe(b *testing.B) {
	page := endpoint(b, "127.0.0.1", says(okHead+"Content-Length: 2\r\n\r\nOK")).Port()
	ok, folder := mustStatus(b, "200"), b.TempDir()
	server := datagrams(b, func(q []byte) [][]byte { q[2] |= 0x80; return [][]byte{q} }).Port()
	for _, c := range []struct {
		name string
		kind Kind
	}{
		{"http", HTTP{Port: page, Status: ok}},
		{"http with a text", HTTP{Port: page, Status: ok, Body: Text{Plain: "OK"}}},
		{"http with a regex", HTTP{Port: page, Status: ok, Body: Text{Regex: "^(OK|fine)$"}}},
		{"tcp", TCP{Port: endpoint(b, "127.0.0.1", func(*net.TCPConn) {}).Port()}},
		{"dns", DNS{Port: server, Name: "ok.test.", Type: dns.TypeA}},
		{"grpc", GRPC{Port: speaking(b, health.NewServer()).Port()}},
		{"icmp", ICMP{}},
		{"file", File{Path: write(b, folder, "state", "up\n")}},
		{"exec", Exec{Command: ListOf("true")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			o := NewOutside()
			b.ReportAllocs()
			for b.Loop() {
				if r := o.Probe(b.Context(), loopback, Check{Kind: c.kind, Timeout: 5 * time.Second}); !r.OK {
					b.Fatal(r.Cause)
				}
			}
		})
	}
}
