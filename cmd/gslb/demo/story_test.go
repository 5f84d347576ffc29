package demo_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gslb/test/rig"
)

// interval is that of the demos under test: quick, and slow enough for a busy machine.
const interval = 150 * time.Millisecond

// patience is how long a test waits for what must come.
const patience = time.Minute

// TestDemo runs real demos of the real program, and does what their screen says.
func TestDemo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gslb")
	if out, err := exec.Command("go", "build", "-o", program, "gslb/cmd/gslb").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for name, story := range map[string]func(*testing.T, *run){
		"what the screen says works":                      screenStory,
		"a broken place leaves and comes back":            breakStory,
		"a drained place leaves at once":                  drainStory,
		"a severed partner stays in use":                  severStory,
		"withdrawn networks leave at once":                withdrawStory,
		"the killed name server remembers":                crashStory,
		"a second demo takes other ports":                 secondStory,
		"a killed demo leaves nothing behind":             killedStory,
		"the end of the name server is the demo's":        orphanStory,
		"Ctrl-C does not reach the name server by itself": interruptStory,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, start(t, program))
		})
	}
}

func screenStory(t *testing.T, r *run) {
	rig.Installed(t, "dig", "bind9-dnsutils")
	digs := r.commands("dig ")
	if len(digs) != 4 {
		t.Fatalf("%d dig lines on the screen, want 4:\n%s", len(digs), r.text())
	}
	for i, want := range []string{
		`127\.0\.10\.1`, `127\.0\.10\.3`, `127\.0\.10\.4`,
		`"client=203\.0\.113\.0/24 via=ecs"
"name=video\.demo\.test service=video answer=127\.0\.10\.4 ttl=\d+ scope=24"
"placed=partners partner=sibtel prefix=203\.0\.113\.0/24 origin=64501 peer=127\.0\.10\.179 age=\d+m?s"
"place=nsk tier=1 verdict=chosen"
(.*
)+"version config=1:.*"`,
	} {
		if got := r.shell(digs[i]); !regexp.MustCompile("^" + want + "\n$").MatchString(got) {
			t.Errorf("%s\n got %q\nwant %q", digs[i], got, want)
		}
	}
	explain := r.shell(r.commands(r.folder + "/gslb explain ")[0])
	if why := "place=nsk tier=1 verdict=chosen\n"; !strings.Contains(explain, why) {
		t.Errorf("explain does not say %q:\n%s", why, explain)
	}
	if status := r.shell(r.commands(r.folder + "/gslb status ")[0]); !strings.Contains(status, "nsk    127.0.10.4  up") {
		t.Errorf("status does not show nsk:\n%s", status)
	}
	if partners := r.shell(r.commands(r.folder + "/gslb partners ")[0]); !strings.Contains(partners, "established") {
		t.Errorf("partners does not show an established session:\n%s", partners)
	}
	r.say("quit")
	r.wantEnd(0)
}

func breakStory(t *testing.T, r *run) {
	posts := r.commands("curl -X POST ")
	if len(posts) != 2 {
		t.Fatalf("%d curl lines on the screen, want 2:\n%s", len(posts), r.text())
	}
	r.post(posts[0])
	r.want("msk-1 is now broken: answers status 503")
	r.want("msk-1/web withdrawn: 10 of 20 failed, last: status 503",
		"www.demo.test for a client in Russia is now msk-2 127.0.10.2, was msk-1 127.0.10.1")
	r.post(posts[1])
	r.want("msk-1 is now sound: answers status 200")
	r.want("good checks")
	r.want("msk-1/web restored: 20 of the last 20 succeeded",
		"www.demo.test for a client in Russia is now msk-1 127.0.10.1, was msk-2 127.0.10.2")
	r.say("quit")
	r.wantEnd(0)
}

func drainStory(t *testing.T, r *run) {
	r.shell(r.commands(r.folder + "/gslb drain ")[0])
	r.want("msk-1 drained",
		"www.demo.test for a client in Russia is now msk-2 127.0.10.2, was msk-1 127.0.10.1")
	r.shell(r.commands(r.folder + "/gslb undrain ")[0])
	r.want("msk-1 no longer drained",
		"www.demo.test for a client in Russia is now msk-1 127.0.10.1, was msk-2 127.0.10.2")
	r.say(`drain fra --reason "cooling work"`)
	r.want("fra drained: cooling work")
	r.say("quit")
	r.wantEnd(0)
}

func crashStory(t *testing.T, r *run) {
	r.say("stop nsk")
	r.want("nsk/web withdrawn: 10 of 20 failed, last: connect refused")
	r.say("crash")
	r.want("the name server answers again")
	explain := r.commands(r.folder + "/gslb explain ")[0]
	within(t, "verdict of before", func() bool { // the prefixes may not have been written before the end
		return strings.Contains(r.shell(explain), "place=nsk tier=1 verdict=withdrawn endpoint=127.0.10.4")
	})
	r.say("quit")
	r.wantEnd(0)
}

// learned is how reasons show a prefix that came in the partner's session.
const learned = "placed=partners partner=sibtel prefix=203.0.113.0/24 origin=64501 peer=127.0.10.179 age="

func severStory(t *testing.T, r *run) {
	stale := func() (known, stale bool) {
		reasons := r.shell(r.commands(r.folder + "/gslb explain ")[0])
		return strings.Contains(reasons, learned), strings.Contains(reasons, " stale=")
	}
	if known, stale := stale(); !known || stale {
		t.Errorf("at first reasons show the prefix: %t; as stale: %t; want it, and not stale", known, stale)
	}
	six := r.shell(strings.Replace(r.commands(r.folder + "/gslb explain ")[0], "203.0.113.0/24", "2001:db8:203:1::/64", 1))
	if want := "prefix=2001:db8:203::/48 origin=64501 peer=127.0.10.179"; !strings.Contains(six, want) {
		t.Errorf("no %q in the reasons of IPv6:\n%s", want, six)
	}
	r.say("sever sibtel")
	r.want("sibtel's router was killed (kill -9): its session ends without a word")
	r.want("sibtel 127.0.10.179 session down", "sibtel: 2 prefixes, stale")
	within(t, "stale prefix", func() bool { known, stale := stale(); return known && stale })
	r.say("withdraw sibtel")
	r.want("sibtel's router does not run; restore sibtel starts it again")
	r.say("restore sibtel")
	r.want("sibtel's router is started again")
	r.want("sibtel 127.0.10.179 session up", "sibtel: 2 prefixes\n")
	within(t, "prefix that is not stale", func() bool { known, stale := stale(); return known && !stale })
	if strings.Contains(r.text(), "for a client of sibtel is now") {
		t.Errorf("the partner's clients were sent elsewhere:\n%s", r.text())
	}
	r.say("quit")
	r.wantEnd(0)
}

// withdrawStory is over before prefixes that were only stale would leave.
func withdrawStory(t *testing.T, r *run) {
	r.say("withdraw sibtel")
	r.want("sibtel withdraws its 2 prefixes: 203.0.113.0/24 and 2001:db8:203::/48", "sibtel: no prefixes",
		"video.demo.test for a client of sibtel is now msk-1 127.0.10.1, was nsk 127.0.10.4")
	r.say("announce sibtel")
	r.want("sibtel announces its 2 prefixes", "sibtel: 2 prefixes\n",
		"video.demo.test for a client of sibtel is now nsk 127.0.10.4, was msk-1 127.0.10.1")
	r.say("quit")
	r.wantEnd(0)
}

func secondStory(t *testing.T, r *run) {
	other := start(t, r.program)
	both := []string{r.dns(), other.dns()}
	if both[0] == both[1] {
		t.Errorf("two demos on %s", both[0])
	}
	if r.folder == other.folder {
		t.Errorf("two demos in %s", r.folder)
	}
	// The first may have begun beside one that has ended since; but only one of the two has the usual ports.
	if all := r.text() + other.text(); !strings.Contains(all, " is taken)") {
		t.Errorf("neither demo says that ports are taken:\n%s", all)
	}
	for _, demo := range []*run{r, other} {
		demo.say("quit")
		demo.wantEnd(0)
	}
}

func killedStory(t *testing.T, r *run) {
	r.signal(syscall.SIGKILL)
	r.wantEnd(-1)
}

func orphanStory(t *testing.T, r *run) {
	if err := syscall.Kill(r.child(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.wantEnd(1)
	complaint := "the name server ended (signal: killed); the end of its log:\n"
	if got := r.text(); !strings.Contains(got, complaint) || !strings.Contains(got, "msg=serving") {
		t.Errorf("no word of the name server's end and its log:\n%s", got)
	}
}

func interruptStory(t *testing.T, r *run) {
	child := r.child()
	if err := syscall.Kill(child, syscall.SIGINT); err != nil { // as a terminal sends it to both
		t.Fatal(err)
	}
	r.say("break fra")
	r.want("fra/web withdrawn: 10 of 20 failed")
	r.signal(syscall.SIGINT)
	r.wantEnd(0)
}

// run is one demo that runs.
type run struct {
	t       *testing.T
	program string
	command *exec.Cmd
	stdin   io.WriteCloser
	folder  string
	temp    string // of this demo alone, and known to all that it starts
	ended   chan struct{}

	mu   sync.Mutex
	out  bytes.Buffer // guarded by mu
	told int          // how much of out was wanted already
}

// start starts a demo, and waits for its start screen.
func start(t *testing.T, program string) *run {
	t.Helper()
	r := &run{t: t, program: program, temp: t.TempDir(), ended: make(chan struct{})}
	r.command = exec.Command(program, "demo", "--interval", interval.String())
	r.command.Env = append(os.Environ(), "TMPDIR="+r.temp)
	var err error
	if r.stdin, err = r.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	shown, write := io.Pipe()
	r.command.Stdout, r.command.Stderr = write, write
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go r.collect(shown)
	go func() {
		defer close(r.ended)
		_ = r.command.Wait() // its state is looked at later
		_ = write.Close()
	}()
	t.Cleanup(func() {
		_ = r.command.Process.Kill()
		<-r.ended
	})
	r.want("Words to type here")
	found := regexp.MustCompile(`(?m)^  files   (\S+): `).FindStringSubmatch(r.text())
	if found == nil {
		t.Fatalf("no folder on the screen:\n%s", r.text())
	}
	r.folder = found[1]
	// What was forked and is not the other program yet counts for a moment.
	within(t, "set of four processes: the demo, its name server with a speaker, and the partner's router", func() bool { return r.alive() == 4 }, r.text)
	return r
}

func (r *run) collect(shown io.Reader) {
	lines := bufio.NewReader(shown)
	for {
		line, err := lines.ReadString('\n')
		r.mu.Lock()
		r.out.WriteString(line)
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (r *run) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

// want waits for lines, in any order, that come after those that were wanted before: two of one moment
// are told by two watchers.
func (r *run) want(lines ...string) {
	r.t.Helper()
	within(r.t, fmt.Sprintf("%q", lines), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		end := 0
		for _, words := range lines {
			i := bytes.Index(r.out.Bytes()[r.told:], []byte(words))
			if i < 0 {
				return false
			}
			end = max(end, i+len(words))
		}
		r.told += end
		return true
	}, r.text)
}

// within waits until something holds.
func within(t *testing.T, what string, holds func() bool, shown ...func() string) {
	t.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(patience); !holds(); <-ticks.C {
		if time.Now().After(deadline) {
			for _, text := range shown {
				t.Log("shown:\n" + text())
			}
			t.Fatalf("after %s there is no %s", patience, what)
		}
	}
}

func (r *run) say(line string) {
	if _, err := io.WriteString(r.stdin, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) signal(s os.Signal) {
	if err := r.command.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// commands are those on the screen that begin with some words.
func (r *run) commands(begin string) []string {
	var all []string
	for line := range strings.Lines(r.text()) {
		if command, ok := strings.CutPrefix(line, "  "+begin); ok {
			all = append(all, begin+strings.TrimSpace(command))
		}
	}
	return all
}

// shell runs a command of the screen as it stands there.
func (r *run) shell(command string) string {
	r.t.Helper()
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// post does what a line with curl does.
func (r *run) post(curl string) {
	r.t.Helper()
	response, err := http.Post(strings.TrimPrefix(curl, "curl -X POST "), "", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s", curl, response.Status)
	}
}

func (r *run) dns() string {
	return regexp.MustCompile(`(?m)^  DNS     (\S+),`).FindStringSubmatch(r.text())[1]
}

// child is the process of the name server.
func (r *run) child() int {
	r.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, file := range all {
		line, _ := os.ReadFile(file) // many end while we look
		if strings.HasSuffix(string(line), "\x00--serve\x00"+r.folder+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	r.t.Fatalf("no process serves for %s", r.folder)
	return 0
}

// alive counts the processes of the demo and of all that it started.
func (r *run) alive() (n int) {
	r.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, file := range all {
		environ, _ := os.ReadFile(file) // many end while we look
		if bytes.Contains(environ, []byte("TMPDIR="+r.temp+"\x00")) {
			n++
		}
	}
	return n
}

// wantEnd waits for the demo's end, and wants it to leave nothing behind.
func (r *run) wantEnd(code int) {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatalf("the demo goes on:\n%s", r.text())
	}
	if got := r.command.ProcessState.ExitCode(); got != code {
		r.t.Errorf("exit code %d, want %d:\n%s", got, code, r.text())
	}
	within(r.t, "removal of "+r.folder, func() bool {
		_, err := os.Stat(r.folder)
		return os.IsNotExist(err)
	})
	within(r.t, "end of all processes", func() bool { return r.alive() == 0 })
}
