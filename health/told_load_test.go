package health

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// tells asks a check once of the loopback address, and gives the load that it told.
func tells(t *testing.T, o *Outside, kind Kind) (load float64, told bool) {
	t.Helper()
	target := Target{Address: loopback, Name: "app", Check: Check{Kind: kind, Interval: 10 * time.Second, Timeout: time.Minute}}
	if r := o.Probe(t.Context(), target.Address, target.Check); r.Cause != "" {
		t.Logf("%s: %s", kind, r.Cause)
	}
	l, told := o.Load(target)
	if told && time.Since(l.At) > time.Minute {
		t.Errorf("told at %s", l.At)
	}
	return l.Value, told
}

func TestCommandsTellTheLoadAsPluginsDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said string
		load float64
		told bool
	}{
		{"OK | load=12", 12, true},
		{"OK|load=0;50;100;0;", 0, true},
		{"OK | users=3 'load'=1.5%;;", 1.5, true},
		{"OK | load=7c", 7, true},
		{"WARNING | load1=0.3;1;2", 0, false},
		{"load=3", 0, false},
		{"OK | load=", 0, false},
		{"OK | load=-1", 0, false},
		{"OK | load=NaN", 0, false},
		{"OK | load=1e999", 0, false},
	} {
		load, told := tells(t, NewOutside(), Exec{Command: ListOf("echo", c.said)})
		if load != c.load || told != c.told {
			t.Errorf("%q: %v, %v; want %v, %v", c.said, load, told, c.load, c.told)
		}
	}
	if load, told := tells(t, NewOutside(), sh("echo 'no | load=4'; exit 2")); load != 4 || !told {
		t.Errorf("of a failure: %v, %v", load, told)
	}
}

func TestPagesTellTheLoad(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	body, served := "", make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		fmt.Fprint(w, body)
	})}
	go func() { _ = server.Serve(l); close(served) }()
	t.Cleanup(func() { server.Close(); <-served })
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	status, _ := ParseStatus("200")
	const json = `"load": *([0-9.]+)`
	for _, c := range []struct {
		name, body string
		kind       HTTP
		load       float64
		told, ok   bool
	}{
		{"json", `{"status": "ok", "load": 3.5}`, HTTP{Load: json}, 3.5, true, true},
		{"none", `{"load": 0}`, HTTP{Load: json}, 0, true, true},
		{"not there", `{"status": "ok"}`, HTTP{Load: json}, 0, false, true},
		{"no number", `{"load": 1.2.3}`, HTTP{Load: json}, 0, false, true},
		{"with a text", `{"load": 2} OK`, HTTP{Load: json, Body: Text{Plain: "OK"}}, 2, true, true},
		{"without the text", `{"load": 2}`, HTTP{Load: json, Body: Text{Plain: "OK"}}, 2, true, false},
		{"on a connection that is kept", `{"load": 5}`, HTTP{Load: json, Keep: true}, 5, true, true},
		{"behind a redirect", `{"load": 6}`, HTTP{Load: json, Path: "/moved", Redirects: 1}, 6, true, true},
		{"of another status", `{"load": 6}`, HTTP{Load: json, Path: "/moved"}, 0, false, false},
	} {
		body, c.kind.Port, c.kind.Status = c.body, port, status
		o := NewOutside()
		if load, told := tells(t, o, c.kind); load != c.load || told != c.told {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, load, told, c.load, c.told)
		}
		if r := o.Probe(t.Context(), loopback, Check{Kind: c.kind, Timeout: time.Minute}); r.OK != c.ok {
			t.Errorf("%s: %+v", c.name, r)
		}
		o.Retain(nil)
		if _, told := o.Load(Target{Address: loopback, Check: Check{Kind: c.kind}}); told {
			t.Errorf("%s: is known of a check that is no more", c.name)
		}
	}
}

const statusConf = `
daemon off; master_process off; pid PATH/pid; worker_processes 1;
events {}
http {
  access_log off; client_body_temp_path PATH/a; proxy_temp_path PATH/b; fastcgi_temp_path PATH/c; uwsgi_temp_path PATH/d; scgi_temp_path PATH/e;
  server { listen 127.0.0.1:PORT; location = /status { stub_status; } }
}
`

// nginx counts the connection of the probe itself: to switch a place off by that takes an application that leaves it out,
// or "Writing", which is 1 for the same reason.
func TestNginxTellsItsConnections(t *testing.T) {
	t.Parallel()
	port, folder := freePorts(t, 1)[0], t.TempDir()
	conf := strings.NewReplacer("PATH", folder, "PORT", fmt.Sprint(port)).Replace(statusConf)
	serve(t, port, "nginx", "-p", folder, "-e", "stderr", "-c", write(t, folder, "nginx.conf", conf))
	status, _ := ParseStatus("200-299")
	kind := HTTP{Port: port, Path: "/status", Status: status, Load: `Waiting: (\d+)`}
	until := func(want float64) { // it counts a connection as waiting a moment after it has answered, or been closed
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			load, told := tells(t, NewOutside(), kind)
			if load == want && told {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%v, %v; want %v", load, told, want)
			}
		}
	}
	until(0) // the connection by which we saw it begin is gone
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/status", port))
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1000)
	for err == nil {
		_, err = response.Body.Read(buffer)
	}
	response.Body.Close() // and the client keeps the connection
	until(1)
}

func FuzzPerformance(f *testing.F) {
	for _, seed := range []string{"OK | load=12;5;10", "|'load'=", "a|b=c load=1.5e3%;", "|||load=1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		if v, ok := performance(said); ok && !(v >= 0) {
			t.Errorf("%q: a load of %v", said, v)
		}
	})
}
