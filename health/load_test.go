package health

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// responderVariable makes the test program an HTTP server in a process of its own, so that what it costs is not
// counted with the probes.
const responderVariable = "GSLB_TEST_RESPONDER"

func TestMain(m *testing.M) {
	if os.Getenv(responderVariable) != "" {
		respond()
		return
	}
	os.Exit(m.Run())
}

// respond serves a page on every address until its standard input ends. It tells its port first.
func respond() {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				var request [1024]byte
				if n, _ := conn.Read(request[:]); n > 0 {
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nServer: test\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nOK")
				}
			}()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	l.Close()
}

// responder starts such a process, and gives its port.
func responder(b testing.TB) uint16 {
	b.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), responderVariable+"=1")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(line), 10, 16)
	if err != nil {
		b.Fatal(err)
	}
	return uint16(port)
}

// lateness notes how late probes leave: how far from their place in the interval.
type lateness struct {
	start  time.Time // of the schedules; zero: they have not begun
	offset map[netip.Addr]time.Duration

	mu   sync.Mutex
	lags []time.Duration
	bad  int
}

func (l *lateness) around(p Prober) Prober {
	return func(ctx context.Context, a netip.Addr, c Check) Result {
		begin := time.Now()
		r := p(ctx, a, c)
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.start.IsZero() {
			l.lags = append(l.lags, begin.Sub(l.start.Add(l.offset[a]))%c.Interval)
		}
		if !r.OK {
			l.bad++
		}
		return r
	}
}

// begin begins to note, by the schedules of the runner.
func (l *lateness) begin(r *Runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range r.watches {
		l.start = w.schedule.start // all began as one
		return
	}
}

func (l *lateness) reset() (lags []time.Duration, bad int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lags, bad, l.lags, l.bad = l.lags, l.bad, nil, 0
	return lags, bad
}

// BenchmarkTwentyThousandEndpoints probes 20,000 endpoints by HTTP every 10 seconds, as often as b says, and reports
// what an interval costs in processor time of one core, in memory, and how late probes leave. Run it with
// -benchtime 3x.
func BenchmarkTwentyThousandEndpoints(b *testing.B) {
	const endpoints = 20_000
	port := responder(b)
	check := usualCheck
	check.Kind = HTTP{Port: port, Path: "/ping", Host: "www.ok.test", Body: Text{Plain: "OK"}, Status: mustStatus(b, "200-299")}
	targets := make([]Target, endpoints)
	for n := range targets {
		targets[n] = Target{Address: netip.AddrFrom4([4]byte{127, 1 + byte(n>>16), byte(n >> 8), byte(n)}), Name: "web", Check: check, Domain: strconv.Itoa(n % 20)}
	}
	board, late := NewBoard(), &lateness{offset: map[netip.Addr]time.Duration{}}
	for _, t := range targets {
		late.offset[t.Address] = offsetOf(t.Key())
	}
	board.Arm(100, time.Now())
	r := NewRunner(board, late.around(NewOutside().Probe), slog.New(slog.DiscardHandler))
	r.Apply(targets)
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	<-board.Settled()
	debug.FreeOSMemory() // as the server does when it begins to serve
	time.Sleep(check.Interval)
	late.begin(r)
	before := processor(b)
	for b.Loop() {
		time.Sleep(check.Interval)
	}
	used := processor(b) - before
	lags, bad := late.reset()
	slices.Sort(lags)
	b.ReportMetric(100*used.Seconds()/(float64(b.N)*check.Interval.Seconds()), "%core")
	b.ReportMetric(resident(b), "MB")
	b.ReportMetric(float64(lags[len(lags)*99/100].Microseconds())/1000, "ms-late-p99")
	b.ReportMetric(float64(len(lags))/float64(b.N), "probes/op")
	b.ReportMetric(float64(bad), "failures")
	cancel()
	running.Wait()
	runtime.KeepAlive(board)
}

// processor is the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the memory that this process has, in megabytes.
func resident(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	var size, pages float64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * float64(os.Getpagesize()) / 1e6
}
