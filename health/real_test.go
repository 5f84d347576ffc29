package health

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb/test/rig"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// freePorts gives so many ports of the loopback address that nobody else has, no two the same.
func freePorts(t testing.TB, n int) []uint16 {
	t.Helper()
	ports := make([]uint16, n)
	for i := range ports {
		ports[i] = rig.Vacant(t, loopback)
	}
	return ports
}

// installed finds a program; see [rig.Missing].
func installed(t testing.TB, name string) string {
	t.Helper()
	for _, name := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	rig.Missing(t, "%s is not installed", name)
	return ""
}

// serve runs a program until the test ends, and waits until it listens on the port.
func serve(t testing.TB, port uint16, name string, args ...string) {
	t.Helper()
	var said strings.Builder
	command := exec.Command(installed(t, name), args...)
	command.Stdout, command.Stderr = &said, &said
	command.WaitDelay = time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		command.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s said:\n%s", name, said.String())
		}
	})
	for late := time.Now().Add(time.Minute); ; {
		conn, err := net.Dial("tcp", netip.AddrPortFrom(loopback, port).String())
		if err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended: %v\n%s", name, err, said.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(late) {
			t.Fatalf("%s does not listen on port %d", name, port)
		}
	}
}

// write makes a file in a folder of the test's.
func write(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// files writes a certificate and its key.
func files(t testing.TB, folder, name string, c tls.Certificate) (cert, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, folder, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}))),
		write(t, folder, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
}

// file writes the certificate of the authority.
func (a certifier) file(t testing.TB, folder string) string {
	t.Helper()
	return write(t, folder, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})))
}

// asked is a kind of check and the cause that a real server must give; empty: a success.
type asked struct {
	name string
	kind Kind
	want string
}

// ask makes each probe and compares.
func ask(t *testing.T, all []asked) {
	t.Helper()
	o := NewOutside()
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Ready(c.kind); err != nil {
				t.Fatal(err)
			}
			got := o.Probe(t.Context(), loopback, Check{Kind: c.kind, Timeout: time.Minute})
			if got.OK != (c.want == "") || got.Cause != c.want {
				t.Errorf("ok %v, cause %q, want cause %q", got.OK, got.Cause, c.want)
			}
		})
	}
}

const nginxConf = `
daemon off; master_process off; pid PID; error_log stderr;
events {}
http {
  access_log off; client_body_temp_path TMP; proxy_temp_path TMP; fastcgi_temp_path TMP; uwsgi_temp_path TMP; scgi_temp_path TMP;
  server {
    listen 127.0.0.1:PLAIN;
    location = / { return 200 "all is fine: 7 of 7\n"; }
    location = /name { return 200 "host $http_host agent $http_user_agent\n"; }
    location = /key { if ($http_x_key != "s3cret") { return 403; } return 200 OK; }
    location = /put { if ($request_method != POST) { return 405; } return 204; }
    location = /moved { return 302 /moved/; }
    location = /moved/ { return 308 http://$http_host/; }
    location = /round { return 301 /round; }
    location = /away { return 302 http://other.test/; }
    location = /secure { return 302 https://127.0.0.1:SECURE/; }
  }
  server {
    listen 127.0.0.1:SECURE ssl;
    server_name www.ok.test;
    ssl_certificate CERT; ssl_certificate_key KEY;
    location = / { return 200 "sni $ssl_server_name host $http_host\n"; }
    location = /plain { return 302 http://$host:PLAIN/; }
  }
  server {
    listen 127.0.0.1:MUTUAL ssl;
    ssl_certificate CERT; ssl_certificate_key KEY; ssl_client_certificate CA; ssl_verify_client on;
    location = / { return 200 $ssl_client_s_dn; }
  }
}`

func TestNginx(t *testing.T) {
	folder, authority := t.TempDir(), newCertifier(t)
	ca := authority.file(t, folder)
	cert, key := files(t, folder, "server", authority.sign(t, -time.Hour, 10*24*time.Hour, x509.ExtKeyUsageServerAuth))
	ourCert, ourKey := files(t, folder, "our", authority.sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageClientAuth))
	ports := freePorts(t, 3)
	plain, secure, mutual := ports[0], ports[1], ports[2]
	conf := strings.NewReplacer("PID", folder+"/pid", "TMP", folder, "PLAIN", fmt.Sprint(plain), "SECURE", fmt.Sprint(secure),
		"MUTUAL", fmt.Sprint(mutual), "CERT", cert, "KEY", key, "CA", ca).Replace(nginxConf)
	serve(t, mutual, "nginx", "-p", folder, "-e", "stderr", "-c", write(t, folder, "nginx.conf", conf))

	ok := mustStatus(t, "200-299")
	page := func(path string, edit func(*HTTP)) HTTP {
		h := HTTP{Port: plain, Path: path, Status: ok}
		if edit != nil {
			edit(&h)
		}
		return h
	}
	inTLS := func(port uint16, path string, edit func(*HTTP)) HTTP {
		return page(path, func(h *HTTP) {
			h.TLS, h.Port, h.Trust.CA = true, port, ca
			if edit != nil {
				edit(h)
			}
		})
	}
	follow := func(n int) func(*HTTP) { return func(h *HTTP) { h.Redirects = n } }
	ask(t, []asked{
		{"a page", page("/", nil), ""},
		{"a regex", page("/", func(h *HTTP) { h.Body.Regex = `^all is fine: (\d+) of \d+\n$` }), ""},
		{"a regex that does not match", page("/", func(h *HTTP) { h.Body.Regex = `^fine` }), `body does not match "^fine"`},
		{"a text and a regex", page("/", func(h *HTTP) { h.Body = Text{"7 of 7", "bad"} }), `body does not match "bad"`},
		{"a host", page("/name", func(h *HTTP) { h.Host, h.Body.Plain = "www.ok.test", "host www.ok.test agent gslb-check\n" }), ""},
		{"no header", page("/key", nil), "status 403"},
		{"a header", page("/key", func(h *HTTP) { h.Header = ListOf("X-Key: s3cret") }), ""},
		{"a header of ours", page("/name", func(h *HTTP) { h.Header, h.Body.Plain = ListOf("User-Agent: mine"), "agent mine" }), ""},
		{"a method", page("/put", func(h *HTTP) { h.Method = "POST" }), ""},
		{"a redirect judged", page("/moved", func(h *HTTP) { h.Status = mustStatus(t, "302") }), ""},
		{"a redirect not wanted", page("/moved", nil), "status 302"},
		{"redirects", page("/moved", follow(2)), ""},
		{"a redirect too many", page("/moved", follow(1)), "too many redirects"},
		{"a loop", page("/round", follow(10)), "too many redirects"},
		{"a redirect away", page("/away", follow(3)), "redirect to another host"},
		{"a redirect into TLS", page("/secure", func(h *HTTP) { h.Redirects, h.Trust.CA = 1, ca }), ""},
		{"a redirect out of TLS", inTLS(secure, "/plain", follow(1)), "redirect out of TLS"},

		{"TLS by address", inTLS(secure, "/", func(h *HTTP) { h.Body.Plain = fmt.Sprintf("sni  host 127.0.0.1:%d", secure) }), ""},
		{"TLS by host", inTLS(secure, "/", func(h *HTTP) { h.Host, h.Body.Plain = "www.ok.test", "sni www.ok.test host www.ok.test" }), ""},
		{"TLS by another name", inTLS(secure, "/", func(h *HTTP) {
			h.Host, h.Trust.Name, h.Body.Plain = "m.ok.test", "www.ok.test", "sni www.ok.test host m.ok.test"
		}), ""},
		{"a wrong name", inTLS(secure, "/", func(h *HTTP) { h.Host = "m.ok.test" }), "tls: name mismatch"},
		{"a wrong name, not verified", inTLS(secure, "/", func(h *HTTP) { h.Host, h.Trust = "m.ok.test", Trust{Blind: true} }), ""},
		{"an authority that the system does not know", inTLS(secure, "/", func(h *HTTP) { h.Trust.CA = "" }), "tls: unknown authority"},
		{"days enough", inTLS(secure, "/", func(h *HTTP) { h.Trust.Days = 9 }), ""},
		{"too few days", inTLS(secure, "/", func(h *HTTP) { h.Trust.Days = 11 }), "tls: certificate ends within 11 days"},
		{"too few days, not verified", inTLS(secure, "/", func(h *HTTP) { h.Trust = Trust{Blind: true, Days: 11} }), "tls: certificate ends within 11 days"},
		{"no certificate of ours", inTLS(mutual, "/", nil), "status 400"},
		{"a certificate of ours", inTLS(mutual, "/", func(h *HTTP) { h.Trust.Cert, h.Trust.Key, h.Body.Plain = ourCert, ourKey, "CN=endpoint" }), ""},

		{"tcp says and expects", TCP{Port: plain, Send: "GET / HTTP/1.0\r\n\r\n", Expect: Text{Plain: "200 OK"}}, ""},
		{"tcp expects what does not come", TCP{Port: plain, Send: "GET / HTTP/1.0\r\n\r\n", Expect: Text{Plain: "+PONG"}}, `answer lacks "+PONG"`},
		{"tcp expects a match", TCP{Port: plain, Send: "QUIT\r\n", Expect: Text{Regex: `(?i)<h1>400 bad request`}}, ""},
		{"tcp expects another match", TCP{Port: plain, Send: "QUIT\r\n", Expect: Text{Regex: `^220 `}}, `answer does not match "^220 "`},
	})
}

func TestOpenSSL(t *testing.T) {
	folder, authority := t.TempDir(), newCertifier(t)
	ca := authority.file(t, folder)
	cert, key := files(t, folder, "server", authority.sign(t, -time.Hour, 10*24*time.Hour, x509.ExtKeyUsageServerAuth))
	ourCert, ourKey := files(t, folder, "our", authority.sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageClientAuth))
	ports := freePorts(t, 2)
	open, mutual := ports[0], ports[1]
	serve(t, open, "openssl", "s_server", "-accept", fmt.Sprintf("127.0.0.1:%d", open), "-cert", cert, "-key", key, "-alpn", "h2,dot", "-www")
	// Under TLS 1.2 a server judges the client's certificate before the handshake is over.
	serve(t, mutual, "openssl", "s_server", "-accept", fmt.Sprintf("127.0.0.1:%d", mutual), "-cert", cert, "-key", key,
		"-CAfile", ca, "-Verify", "1", "-verify_return_error", "-tls1_2", "-www")
	trust := Trust{CA: ca}
	ask(t, []asked{
		{"by address", TLS{Port: open, Trust: trust}, ""},
		{"by name", TLS{Port: open, Host: "www.ok.test", Trust: trust}, ""},
		{"a wrong name", TLS{Port: open, Host: "m.ok.test", Trust: trust}, "tls: name mismatch"},
		{"an authority that the system does not know", TLS{Port: open}, "tls: unknown authority"},
		{"not verified", TLS{Port: open, Host: "m.ok.test", Trust: Trust{Blind: true}}, ""},
		{"a protocol", TLS{Port: open, Trust: trust, ALPN: ListOf("http/1.1", "dot")}, ""},
		{"a protocol that it does not speak", TLS{Port: open, Trust: trust, ALPN: ListOf("imap")}, "tls: no application protocol"},
		{"days enough", TLS{Port: open, Trust: Trust{CA: ca, Days: 9}}, ""},
		{"too few days", TLS{Port: open, Trust: Trust{CA: ca, Days: 10}}, "tls: certificate ends within 10 days"},
		{"no certificate of ours", TLS{Port: mutual, Trust: trust}, "tls: handshake failure"},
		{"a certificate of ours", TLS{Port: mutual, Trust: Trust{CA: ca, Cert: ourCert, Key: ourKey}}, ""},
	})
}

// What our own disk lost is no fault of an endpoint.
func TestCredentialsThatVanishStayInUse(t *testing.T) {
	folder, authority := t.TempDir(), newCertifier(t)
	ca := authority.file(t, folder)
	good := authority.sign(t, -time.Hour, time.Hour, x509.ExtKeyUsageServerAuth)
	at := endpoint(t, "127.0.0.1", secured(&tls.Config{Certificates: []tls.Certificate{good}}, hangsOn))
	o, check := NewOutside(), Check{Kind: TLS{Port: at.Port(), Trust: Trust{CA: ca}}, Timeout: 10 * time.Second}
	probe := func(when, want string) {
		t.Helper()
		if got := o.Probe(t.Context(), at.Addr(), check); got.Cause != want {
			t.Errorf("%s: cause %q, want %q", when, got.Cause, want)
		}
	}
	probe("at first", "")
	write(t, folder, "ca.pem", "not a certificate")
	probe("after the file was spoilt", "")
	os.Remove(ca)
	probe("after it was removed", "")
	newCertifier(t).file(t, folder)
	probe("after it became that of another", "tls: unknown authority")
	o = NewOutside()
	os.Remove(ca)
	probe("in a process that never saw it", "tls: our own files are unreadable")
	if key, err := Ready(check.Kind); key != "ca_file" || err == nil {
		t.Errorf("Ready says %q, %v", key, err)
	}
}
