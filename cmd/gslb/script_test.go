package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gslb/test/golden"
	"gslb/test/rig"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"gslb": main,
		"exe":  main, // the base of /proc/self/exe, by which a server starts its speaker
	})
}

// TestScripts runs the program as an operator does, with the real dig.
//
// Beside testscript's own commands, the scripts have:
//
//	ports FILE...          sets $DNS, $ADMIN, $WEB and $BGP to free ports, and puts them and $GLOBE into the files
//	expand FILE...         puts them into other files
//	endpoint ADDRESS CODE [AFTER]  has a web server on ADDRESS:$WEB answer with a status, after a time; with 0 it never answers
//	await PATTERN COMMAND  runs a command again and again until what it prints matches; "! await": no longer matches
//	signal NAME            sends HUP, TERM, STOP, CONT or QUIT to the server
//	exitcode N COMMAND     runs a command, whose exit code must be N
//	[installed:PROGRAM]    tells whether a program is there; where $CI is true, it has to be
//
// $GLOBE is a geo database of the networks for documentation: 203.0.113.0/24 and 2001:db8:a::/48 are in
// Moscow, 198.51.100.0/24 is in Novosibirsk. $GEO is a folder of others; see [writeDatabases].
func TestScripts(t *testing.T) {
	rig.Installed(t, "dig", "bind9-dnsutils")
	globe, err := filepath.Abs("testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	databases := t.TempDir()
	if err := writeDatabases(databases); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", e.Getenv("PATH")+string(filepath.ListSeparator)+sbin)
			e.Setenv("GLOBE", globe)
			e.Setenv("GEO", databases)
			e.Setenv("GSLB_CONFIG", "gslb.yaml")
			e.Setenv("USER", "nikita")
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each command of a race build ends with a second of sleep
			e.Values[websKey{}] = map[string]*web{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ports": cmdPorts(t), "expand": cmdExpand, "endpoint": cmdEndpoint, "await": cmdAwait, "signal": cmdSignal, "exitcode": cmdExitCode,
		},
		Condition:     installed,
		UpdateScripts: golden.Update(),
	})
}

// cmdPorts gives the command that sets ports, which are the script's until all scripts have ended.
func cmdPorts(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, files []string) {
		for _, name := range []string{"DNS", "ADMIN", "WEB", "BGP"} {
			ts.Setenv(name, strconv.Itoa(int(rig.Vacant(t, netip.IPv4Unspecified()))))
		}
		cmdExpand(ts, false, files)
	}
}

func cmdExpand(ts *testscript.TestScript, _ bool, files []string) {
	for _, f := range files {
		text := os.Expand(ts.ReadFile(f), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(f), []byte(text), 0o644))
	}
}

// websKey is where a script keeps its web servers: a map from address to *web.
type websKey struct{}

// web is a server that answers everything with one status.
type web struct{ status, after atomic.Int64 }

func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	status := int(w.status.Load())
	if status == 0 {
		<-r.Context().Done()
		return
	}
	time.Sleep(time.Duration(w.after.Load()))
	out.WriteHeader(status)
}

func cmdEndpoint(ts *testscript.TestScript, _ bool, args []string) {
	var after time.Duration
	switch len(args) {
	case 2:
	case 3:
		var err error
		after, err = time.ParseDuration(args[2])
		ts.Check(err)
	default:
		ts.Fatalf("usage: endpoint ADDRESS CODE [AFTER]")
	}
	doors := ts.Value(websKey{}).(map[string]*web)
	w := doors[args[0]]
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	if w != nil {
		w.status.Store(int64(status))
		w.after.Store(int64(after))
		return
	}
	l, err := net.Listen("tcp", net.JoinHostPort(args[0], ts.Getenv("WEB")))
	ts.Check(err)
	w = &web{}
	w.status.Store(int64(status))
	w.after.Store(int64(after))
	doors[args[0]] = w
	server := &http.Server{Handler: w, ReadHeaderTimeout: time.Second}
	ended := make(chan struct{})
	go func() { _ = server.Serve(l); close(ended) }()
	ts.Defer(func() { server.Close(); <-ended })
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: await PATTERN COMMAND [ARG...]")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	const patience = time.Minute
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		failed := ts.Exec(args[1], args[2:]...)
		printed := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if pattern.MatchString(printed) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not come true in %s (%v): %s\n%s", args[0], patience, failed, strings.Join(args[1:], " "), printed)
		}
	}
}

func cmdSignal(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]os.Signal{"HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT, "QUIT": syscall.SIGQUIT}
	if len(args) != 1 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal HUP|TERM|STOP|CONT|QUIT")
	}
	servers := ts.BackgroundCmds()
	if len(servers) == 0 {
		ts.Fatalf("no server runs")
	}
	ts.Check(servers[len(servers)-1].Process.Signal(signals[args[0]]))
}

func cmdExitCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND [ARG...]")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s: exit code %d, want %s\n%s", strings.Join(args[1:], " "), code, args[0], ts.ReadFile("stderr"))
	}
}

// installed is the condition [installed:PROGRAM]. Where $CI is true, a program that is missing is an error.
func installed(condition string) (bool, error) {
	program, ok := strings.CutPrefix(condition, "installed:")
	if !ok {
		return false, fmt.Errorf("there is no condition %q", condition)
	}
	_, err := exec.LookPath(program)
	if err != nil {
		_, err = exec.LookPath(filepath.Join(sbin, program))
	}
	if err != nil && rig.InCI() {
		return false, fmt.Errorf("%s is not installed", program)
	}
	return err == nil, nil
}

// sbin is where Debian has daemons, outside the PATH of most users.
const sbin = "/usr/sbin"

func freeAddress(t *testing.T) string {
	t.Helper()
	loopback := netip.MustParseAddr("127.0.0.1")
	return netip.AddrPortFrom(loopback, rig.Vacant(t, loopback)).String()
}
