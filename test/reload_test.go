package test

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	mdns "github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"gslb/test/rig"
)

// BenchmarkAnswersBesideReloads measures p99 of answers of a running server: while nothing happens, while it takes an edit
// of one line over, and while it takes over that every place moved. The client asks each half millisecond, in a thread of
// its own, at real-time priority where that is allowed. Medians of the turns; what is over 1 ms beside nothing says that
// somebody else has the processors.
func BenchmarkAnswersBesideReloads(b *testing.B) {
	b.Run("typical", func(b *testing.B) { besideReloads(b, newWorld(b, 10, 100, 1)) })
	b.Run("large", func(b *testing.B) { besideReloads(b, newWorld(b, 10_000, 100_000, 10)) })
}

func besideReloads(b *testing.B, w *world) {
	turns := map[string][]float64{}
	turn := func(name string) { turns[name] = append(turns[name], float64(w.p99().Microseconds())) }
	for n := 1; b.Loop(); n++ {
		turn("calm")
		w.edit(n, 0)
		turn("line")
		w.settle(n, 0)
		w.edit(n, n)
		turn("all")
		w.settle(n, n)
	}
	b.ReportMetric(0, "ns/op") // of turns of fixed lengths
	for name, of := range turns {
		slices.Sort(of)
		b.ReportMetric(of[len(of)/2], name+"-p99-µs")
	}
}

// world is a server with a configuration of places, services at three of them, and zones with nine times as many other names.
type world struct {
	b                       *testing.B
	file                    string
	places, services, zones int
	server                  *exec.Cmd
	port                    uint16
}

func newWorld(b *testing.B, places, services, zones int) *world {
	b.Helper()
	binary, err := rig.Plain()
	if err != nil {
		b.Fatal(err)
	}
	w := &world{b: b, file: filepath.Join(b.TempDir(), "gslb.yaml"), places: places, services: services, zones: zones}
	w.port = rig.Vacant(b, netip.MustParseAddr("127.0.0.1"))
	var records strings.Builder
	records.WriteString("ns1 A 192.0.2.53\n")
	for i := range 9 * services / zones {
		fmt.Fprintf(&records, "host-%d A 192.0.%d.%d\n", i, i>>8&255, i&255)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.file), "names.zone"), []byte(records.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	w.edit(0, 0)
	w.server = exec.Command(binary, "serve", "-c", w.file)
	if err := w.server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = w.server.Process.Signal(syscall.SIGTERM)
		_ = w.server.Wait()
	})
	w.settle(0, 0)
	return w
}

// edit writes the configuration with a weight in one line, and all places moved by minutes, and has a server read it.
func (w *world) edit(weight, minutes int) {
	w.b.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "server: {listen: [\"127.0.0.1:%d\"], state: state.db}\nadmin: {listen: \"off\"}\ndatacenters:\n", w.port)
	for i := range w.places {
		fmt.Fprintf(&text, "  p%d: {weight: %d, location: [%d.%02d, %d.25]}\n", i, 1+weight*max(0, 1-i), i*7%140-70, minutes, i*13%350-170)
	}
	text.WriteString("services:\n")
	for i := range w.services {
		first := i % min(100, w.places)
		fmt.Fprintf(&text, "  s%d: {at: {p%d: [10.%d.%d.1], p%d: [10.%[3]d.%[4]d.2], p%[6]d: [10.%[3]d.%[4]d.3]}}\n", i, first, i>>8&255, i&255, (first+3)%w.places, (first+6)%w.places)
	}
	text.WriteString("zones:\n")
	for z := range w.zones {
		fmt.Fprintf(&text, "  z%d.test:\n    ns: [ns1]\n    file: names.zone\n    services:\n      now-%d-%d: s0\n", z, weight, minutes)
		for i := range w.services / w.zones {
			fmt.Fprintf(&text, "      w%d: s%d\n", i, i*w.zones+z)
		}
	}
	next := w.file + ".next"
	if err := os.WriteFile(next, []byte(text.String()), 0o600); err != nil {
		w.b.Fatal(err)
	}
	if err := os.Rename(next, w.file); err != nil {
		w.b.Fatal(err)
	}
	if w.server != nil {
		_ = w.server.Process.Signal(syscall.SIGHUP)
	}
}

// settle waits until answers come from an edit, and what is left of it is done.
func (w *world) settle(weight, minutes int) {
	w.b.Helper()
	rig.Until(w.b, time.Minute, "NOERROR", func() string {
		m := new(mdns.Msg)
		m.SetQuestion(fmt.Sprintf("now-%d-%d.z0.test.", weight, minutes), mdns.TypeA)
		r, err := mdns.Exchange(m, fmt.Sprintf("127.0.0.1:%d", w.port))
		if err != nil {
			return err.Error()
		}
		return mdns.RcodeToString[r.Rcode]
	})
	time.Sleep(2 * time.Second)
}

// p99 asks for three seconds, and gives the time that 99 of 100 answers take at most.
func (w *world) p99() time.Duration {
	w.b.Helper()
	runtime.GC() // ours shall not come meanwhile
	var took []time.Duration
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and its priority with it
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 10}, 0)
		var err error
		took, err = w.ask(3 * time.Second)
		done <- err
	}()
	if err := <-done; err != nil {
		w.b.Fatal(err)
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// ask asks by calls that Go's scheduler has no part in, but for knowing that they wait.
func (w *world) ask(span time.Duration) (took []time.Duration, err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(socket)
	if err := unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return nil, err
	}
	if err := unix.Connect(socket, &unix.SockaddrInet4{Port: int(w.port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	reply, pause := make([]byte, 1500), unix.NsecToTimespec(int64(500*time.Microsecond))
	for begin := time.Now(); time.Since(begin) < span; {
		m := new(mdns.Msg)
		m.SetQuestion(fmt.Sprintf("w%d.z0.test.", len(took)*7%(w.services/w.zones)), mdns.TypeA)
		packet, err := m.Pack()
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if _, err := unix.Write(socket, packet); err != nil {
			return nil, err
		}
		for _, err = unix.Read(socket, reply); err == unix.EINTR; { // Go sends its threads signals
			_, err = unix.Read(socket, reply)
		}
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
		_ = unix.Nanosleep(&pause, nil)
	}
	return took, nil
}
