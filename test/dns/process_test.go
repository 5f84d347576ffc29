package dns

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// soon bounds the wait for what takes a moment on an idle machine and longer on a busy one.
const soon = 30 * time.Second

// program builds gslb, with the race detector where the tests have it, and gives its path.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "gslb-dns-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, "gslb")
	arguments := []string{"build", "-o", binary}
	if raceDetector {
		arguments = append(arguments, "-race")
	}
	out, err := exec.Command("go", append(arguments, "gslb/cmd/gslb")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})

// installed gives the path of a program that Debian has in a package.
func installed(t *testing.T, name, debian string) string {
	t.Helper()
	for _, folder := range []string{"", "/usr/sbin/", "/usr/local/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(folder + name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed (apt-get install %s), and CI skips nothing", name, debian)
	}
	t.Skipf("%s is not installed (apt-get install %s)", name, debian)
	return ""
}

// doors numbers the ports that tests took. Two runs at a time begin at different ones.
var doors atomic.Uint32

// vacant is a port of a loopback address of this run's own.
func vacant(t *testing.T) netip.AddrPort {
	t.Helper()
	return vacantOf(t, netip.AddrFrom4([4]byte{127, 90, byte(os.Getpid() >> 8), byte(os.Getpid())}))
}

// vacantOf is a port of an address that nobody listens on, and that the kernel gives to nobody who asks for any.
func vacantOf(t *testing.T, address netip.Addr) netip.AddrPort {
	t.Helper()
	for range 100 {
		const first, count = 10_000, 20_000
		at := netip.AddrPortFrom(address, uint16(first+(doors.Add(1)+uint32(os.Getpid())*101)%count))
		stream, err := net.Listen("tcp", at.String())
		if err != nil {
			continue
		}
		packets, err := net.ListenPacket("udp", at.String())
		stream.Close()
		if err == nil {
			packets.Close()
			return at
		}
	}
	t.Fatalf("no port of %s is vacant", address)
	return netip.AddrPort{}
}

// process is a program that runs for a test, in a folder of its own.
type process struct {
	t      *testing.T
	folder string
	cmd    *exec.Cmd

	environment []string   // beside ours
	extra       []*os.File // from descriptor 3 on
	log         output
}

// newProcess makes the folder with the given files.
func newProcess(t *testing.T, files map[string]string) *process {
	t.Helper()
	p := &process{t: t, folder: t.TempDir()}
	for name, text := range files {
		p.write(name, text)
	}
	return p
}

func (p *process) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// add puts text behind what a file has.
func (p *process) add(name, text string) {
	p.t.Helper()
	before, err := os.ReadFile(filepath.Join(p.folder, name))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(name, string(before)+text)
}

// begin runs the program until the test ends. It shows its log when the test failed.
func (p *process) begin(path string, arguments ...string) {
	p.t.Helper()
	p.cmd = exec.Command(path, arguments...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.folder, &p.log, &p.log
	p.cmd.Env, p.cmd.ExtraFiles = append(os.Environ(), p.environment...), p.extra
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		p.end()
		if p.t.Failed() {
			p.t.Logf("log of %s:\n%s", filepath.Base(path), p.log.String())
		}
		if strings.Contains(p.log.String(), "DATA RACE") {
			p.t.Errorf("gslb has a data race:\n%s", p.log.String())
		}
	})
}

// end ends the program: as it is asked to, or else without mercy, for NSD's children must end with it.
func (p *process) end() {
	if p.cmd == nil {
		return
	}
	ended := make(chan struct{})
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	go func() { _ = p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-ended
	}
	p.cmd = nil
}

// answers waits until the server at the address answers a question with NOERROR.
func answers(t *testing.T, at netip.AddrPort, name string, rrtype uint16) {
	t.Helper()
	until(t, soon, "NOERROR", func() string {
		m := new(dns.Msg)
		m.SetQuestion(name, rrtype)
		c := dns.Client{Timeout: time.Second}
		r, _, err := c.Exchange(m, at.String())
		if err != nil {
			return err.Error()
		}
		return dns.RcodeToString[r.Rcode]
	})
}

// until polls until it gets what is wanted.
func until(t *testing.T, patience time.Duration, want string, get func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		got := get()
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got %s, want %s for %v", got, want, patience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// output gathers what a process prints. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text []byte
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b...)
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// run runs a program to its end and gives what it prints.
func run(t *testing.T, path string, arguments ...string) string {
	t.Helper()
	out, err := exec.Command(path, arguments...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(path), strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
