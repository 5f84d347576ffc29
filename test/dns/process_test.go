package dns

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// vacant is a port of a loopback address of this run's own.
func vacant(t *testing.T) netip.AddrPort {
	t.Helper()
	a := netip.AddrFrom4([4]byte{127, 90, byte(os.Getpid() >> 8), byte(os.Getpid())})
	return netip.AddrPortFrom(a, rig.Vacant(t, a))
}

// process is a program that runs for a test, in a folder of its own.
type process struct {
	t      *testing.T
	folder string
	cmd    *exec.Cmd

	environment []string   // beside ours
	extra       []*os.File // from descriptor 3 on
	log         rig.Output
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

// edit replaces texts by others in a file, in pairs.
func (p *process) edit(name string, pairs ...string) {
	p.t.Helper()
	before, err := os.ReadFile(filepath.Join(p.folder, name))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(name, strings.NewReplacer(pairs...).Replace(string(before)))
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
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-ended
	}
	p.cmd = nil
}

// answers waits until the server at the address answers a question with NOERROR.
func answers(t *testing.T, at netip.AddrPort, name string, rrtype uint16) {
	t.Helper()
	rig.Until(t, rig.Soon, "NOERROR", func() string {
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

// run runs a program to its end and gives what it prints.
func run(t *testing.T, path string, arguments ...string) string {
	t.Helper()
	out, err := exec.Command(path, arguments...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(path), strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
