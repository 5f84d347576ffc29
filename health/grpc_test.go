package health

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	grpctls "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
)

// speaking is a gRPC server, with the health service unless that is nil.
func speaking(t testing.TB, s *health.Server, options ...grpc.ServerOption) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	if s != nil {
		grpc_health_v1.RegisterHealthServer(server, s)
	}
	done := make(chan bool)
	go func() { defer close(done); server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-done })
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func TestGRPC(t *testing.T) {
	state := health.NewServer()
	state.SetServingStatus("up", grpc_health_v1.HealthCheckResponse_SERVING)
	state.SetServingStatus("down", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	state.SetServingStatus("new", grpc_health_v1.HealthCheckResponse_UNKNOWN)
	folder, authority := t.TempDir(), newCertifier(t)
	trust := Trust{CA: authority.file(t, folder)}
	good := authority.sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageServerAuth)
	plain, bare := speaking(t, state).Port(), speaking(t, nil).Port()
	secure := speaking(t, state, grpc.Creds(grpctls.NewServerTLSFromCert(&good))).Port()
	noH2 := endpoint(t, "127.0.0.1", secured(&tls.Config{Certificates: []tls.Certificate{good}}, hangsOn)).Port()
	ask(t, []asked{
		{"the server", GRPC{Port: plain}, ""},
		{"a service", GRPC{Port: plain, Service: "up", Host: "www.ok.test"}, ""},
		{"a service that is down", GRPC{Port: plain, Service: "down"}, "service NOT_SERVING"},
		{"a service that does not know yet", GRPC{Port: plain, Service: "new"}, "service UNKNOWN"},
		{"a service that it does not have", GRPC{Port: plain, Service: "other"}, "grpc NOT_FOUND"},
		{"a server without the health service", GRPC{Port: bare}, "grpc UNIMPLEMENTED"},
		{"TLS", GRPC{Port: secure, TLS: true, Trust: trust}, ""},
		{"TLS by name", GRPC{Port: secure, TLS: true, Host: "www.ok.test", Service: "up", Trust: trust}, ""},
		{"TLS by a wrong name", GRPC{Port: secure, TLS: true, Host: "m.ok.test", Trust: trust}, "tls: name mismatch"},
		{"TLS that the server does not speak", GRPC{Port: plain, TLS: true, Trust: trust}, "tls: not TLS"},
		{"TLS without HTTP/2", GRPC{Port: noH2, TLS: true, Trust: trust}, "tls: no application protocol"},
	})
}

func TestServersThatAreNotGRPC(t *testing.T) {
	answers := func(status int, fields ...string) netip.AddrPort {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(fields); i += 2 {
				w.Header().Set(fields[i], fields[i+1])
			}
			w.WriteHeader(status)
			w.Write([]byte(strings.Repeat("x", 10<<10)))
		})}
		s.Protocols.SetUnencryptedHTTP2(true)
		go s.Serve(l)
		t.Cleanup(func() { s.Close() })
		return l.Addr().(*net.TCPAddr).AddrPort()
	}
	for _, c := range []struct {
		name string
		at   netip.AddrPort
		want string
	}{
		{"HTTP/1", endpoint(t, "127.0.0.1", says("HTTP/1.1 400 Bad Request\r\n\r\n")), "bad response: not HTTP/2"},
		{"a page", answers(http.StatusOK), "bad response: message over 4 KB"},
		{"an error", answers(http.StatusBadGateway), "status 502"},
	} {
		got := NewOutside().Probe(t.Context(), c.at.Addr(), Check{Kind: GRPC{Port: c.at.Port()}, Timeout: time.Minute})
		if got.Cause != c.want {
			t.Errorf("%s: cause %q, want %q", c.name, got.Cause, c.want)
		}
	}
}

// TestClearTextToTLS: the server breaks off, and may or may not get a word in before.
func TestClearTextToTLS(t *testing.T) {
	good := newCertifier(t).sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageServerAuth)
	at := speaking(t, nil, grpc.Creds(grpctls.NewServerTLSFromCert(&good)))
	got := NewOutside().Probe(t.Context(), at.Addr(), Check{Kind: GRPC{Port: at.Port()}, Timeout: time.Minute})
	if !slices.Contains([]string{"connection closed", "connection reset", "bad response: not HTTP/2"}, got.Cause) {
		t.Errorf("ok %v, cause %q", got.OK, got.Cause)
	}
}

// The messages are the few bytes that the library makes of them.
func TestCallIsThatOfTheLibrary(t *testing.T) {
	for _, service := range []string{"", "portal", strings.Repeat("x", 300)} {
		var got grpc_health_v1.HealthCheckRequest
		if err := proto.Unmarshal(checkRequest(service)[5:], &got); err != nil || got.Service != service {
			t.Errorf("%q reads as %q, %v", service, got.Service, err)
		}
	}
	for state, word := range grpc_health_v1.HealthCheckResponse_ServingStatus_name {
		message, err := proto.Marshal(&grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_ServingStatus(state)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := judgeCall("0", append([]byte{0, 0, 0, 0, byte(len(message))}, message...)); err != nil {
			got = err.Error()
		}
		if want := map[bool]string{false: "service " + word, true: ""}[word == "SERVING"]; got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func FuzzCall(f *testing.F) {
	f.Add("0", []byte{0, 0, 0, 0, 2, 8, 1})
	f.Add("0", []byte{0, 0, 0, 0, 0})
	f.Add("12", []byte{})
	f.Add("0", []byte{1, 0, 0, 0, 2, 8, 1})
	f.Add("0", append([]byte{0, 0, 0, 0, 11, 8}, slices.Repeat([]byte{0xff}, 10)...))
	f.Fuzz(func(t *testing.T, status string, framed []byte) {
		err := judgeCall(status, framed)
		if err == nil && (status == "" || len(framed) < 7) {
			t.Errorf("status %q and %x are a success", status, framed)
		}
		if err != nil && len(err.Error()) > 40 {
			t.Errorf("cause %q", err)
		}
	})
}

// deaf is a connection to an endpoint that said something and listens no more.
type deaf struct {
	net.Conn
	said *strings.Reader
}

func (d deaf) Write([]byte) (int, error)  { return 0, syscall.ECONNRESET }
func (d deaf) Read(p []byte) (int, error) { return d.said.Read(p) }
func (d deaf) Close() error               { return nil }

// TestWordsBeforeAReset: an endpoint that says what it is and resets is told by its words, and without any by
// the reset.
func TestWordsBeforeAReset(t *testing.T) {
	for said, want := range map[string]string{"HTTP/1.1 400 Bad Request\r\n\r\n": "bad response: not HTTP/2", "": "connection reset"} {
		v := &visit{at: loopback, wanted: t.Context()}
		err := GRPC{Port: 80}.call(v, deaf{said: strings.NewReader(said)})
		if got := cause(err, Check{}); got != want {
			t.Errorf("after %q: cause %q, want %q", said, got, want)
		}
	}
}
