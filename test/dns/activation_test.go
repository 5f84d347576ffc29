package dns

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

const activated = "server: {listen: [\"DNS\"], state: state.db, nsid: ours}\nadmin: {listen: \"ADMIN\"}\nzones: {alpha.test: {ns: [ns.example.]}}\n"

// manager listens on a socket of ours as a service manager does: all the time, for a socket that nobody reads takes few
// messages.
type manager struct {
	path string
	told chan string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{path, make(chan string, 10_000)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		room := make([]byte, 4096)
		for {
			n, err := conn.Read(room)
			if err != nil {
				return
			}
			m.told <- string(room[:n])
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	return m
}

// hears waits until something that matches is told.
func (m *manager) hears(t *testing.T, pattern string) {
	t.Helper()
	var heard []string
	for late := time.After(rig.Soon); ; {
		select {
		case words := <-m.told:
			if regexp.MustCompile(pattern).MatchString(words) {
				return
			}
			heard = append(heard, words)
		case <-late:
			t.Fatalf("nothing like %s was told, only %q", pattern, heard)
		}
	}
}

// The server takes the sockets that it is handed, tells when it is ready, that it lives, what it does, and when it goes.
func TestServiceManagerHandsSocketsOverAndIsTold(t *testing.T) {
	at, admin, stray := vacant(t), vacant(t), vacant(t)
	var files []*os.File
	for _, open := range []func() (interface{ File() (*os.File, error) }, error){
		func() (interface{ File() (*os.File, error) }, error) {
			return net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(at))
		},
		func() (interface{ File() (*os.File, error) }, error) {
			return net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at)) // shared with nobody: nobody else can bind it
		},
		func() (interface{ File() (*os.File, error) }, error) {
			return net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(stray))
		},
	} {
		socket, err := open()
		if err != nil {
			t.Fatal(err)
		}
		f, err := socket.File()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	m := newManager(t)
	p := newProcess(t, map[string]string{"gslb.yaml": strings.NewReplacer("DNS", at.String(), "ADMIN", admin.String()).Replace(activated) + small(t)})
	p.extra = files
	p.environment = []string{"LISTEN_FDS=3", "LISTEN_FDNAMES=stream:packets:stray", "NOTIFY_SOCKET=" + m.path, "WATCHDOG_USEC=300000"}
	binary, err := rig.Program()
	if err != nil {
		t.Fatal(err)
	}
	p.begin("/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" serve -c gslb.yaml`, binary)
	m.hears(t, `^EXTEND_TIMEOUT_USEC=\d+$`)
	m.hears(t, `^READY=1\nSTATUS=serving 1 zones$`)
	for range 20 { // whichever of the workers gets it
		answers(t, at, "alpha.test.", dns.TypeSOA)
	}
	tcp := dns.Client{Net: "tcp", Timeout: rig.Soon}
	ask := new(dns.Msg)
	ask.SetQuestion("alpha.test.", dns.TypeSOA)
	if r, _, err := tcp.Exchange(ask, at.String()); err != nil || r.Rcode != dns.RcodeSuccess {
		t.Errorf("over TCP: %v", err)
	}
	m.hears(t, `^WATCHDOG=1$`)
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	m.hears(t, `^RELOADING=1\nMONOTONIC_USEC=\d{6,}$`)
	m.hears(t, `^READY=1`)
	if log := p.log.String(); strings.Count(log, "a socket was handed over that no listen address asks for\" address="+stray.String()) != 1 || strings.Contains(log, "asks for\" address="+at.String()) {
		t.Errorf("of sockets that nobody asked for the log says\n%s", log)
	}
	p.end()
	m.hears(t, `^STOPPING=1$`)
}

// The first connection starts the server, and is answered by it.
func TestSystemdActivatesByAConnection(t *testing.T) {
	path := rig.Installed(t, "systemd-socket-activate", "systemd")
	at, admin := vacant(t), vacant(t)
	p := newProcess(t, map[string]string{"gslb.yaml": strings.NewReplacer("DNS", at.String(), "ADMIN", admin.String()).Replace(activated) + small(t)})
	binary, err := rig.Program()
	if err != nil {
		t.Fatal(err)
	}
	p.begin(path, "-l", at.String(), "--fdname=dns", binary, "serve", "-c", filepath.Join(p.folder, "gslb.yaml"))
	rig.Until(t, rig.Soon, "answered", func() string {
		conn, err := net.DialTimeout("tcp", at.String(), time.Second)
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(rig.Soon))
		c := dns.Conn{Conn: conn}
		ask := new(dns.Msg)
		ask.SetQuestion("alpha.test.", dns.TypeSOA)
		if err := c.WriteMsg(ask); err != nil {
			return err.Error()
		}
		if r, err := c.ReadMsg(); err != nil || r.Rcode != dns.RcodeSuccess {
			return fmt.Sprint(r, err)
		}
		return "answered"
	})
	answers(t, at, "alpha.test.", dns.TypeSOA) // by UDP, which it opened itself
}
