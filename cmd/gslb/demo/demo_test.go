package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/test/golden"
)

// stillWorld is a world whose places are not open.
func stillWorld() *world {
	w := &world{
		web: port{8080, 8080}, dns: claim{port: port{5353, 5353}}, admin: claim{port: port{8054, 8053}}, bgp: claim{port: port{1790, 1790}},
	}
	for i, s := range sites() {
		w.places = append(w.places, &place{site: s, address: netip.AddrPortFrom(neighbour(byte(i+1)), 8080)})
	}
	return w
}

func TestScreenShowsWhatThereIs(t *testing.T) {
	var out strings.Builder
	s := newScene(stillWorld(), Interval)
	if err := showScreen(newTeller(&out, false), s.with("/tmp/gslb-demo", "builtin 2026-06-17")); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/screen.golden", out.String())
}

func TestConfigurationHasNoProblems(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := newFolder("/bin/true", newScene(stillWorld(), Interval))
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(f.config())
	_, more := steer.Compile(cfg)
	for _, p := range append(problems, more...) {
		t.Error(p)
	}
	if got, want := readLimits(f.config())["web"], (limits{10, 20}); got != want {
		t.Errorf("limits of the check: got %v, want %v", got, want)
	}
	f.remove()
	if _, err := os.Stat(string(f)); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", f, err)
	}
}

func TestPlaceBehavesAsItsMoodSays(t *testing.T) {
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := openPlace(sites()[0], door, newTeller(io.Discard, false))
	defer p.close()
	address := "http://" + p.address.String()
	ask := func(want string) string {
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
		if want == "timeout" {
			client.Timeout = 200 * time.Millisecond
		}
		response, err := client.Get(address + "/ping")
		var slow net.Error
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return "refused"
		case errors.As(err, &slow) && slow.Timeout():
			return "timeout"
		case err != nil:
			return err.Error()
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(body)))
	}
	for _, step := range []struct{ word, want string }{
		{"heal", "200 OK"},
		{"break", "503 msk-1 is broken"},
		{"hang", "timeout"},
		{"stop", "refused"},
		{"break", "503 msk-1 is broken"},
		{"stop", "refused"},
		{"start", "200 OK"},
	} {
		m, ok := moodOf(step.word)
		if !ok {
			t.Fatalf("%q is no word for a mood", step.word)
		}
		if err := p.become(m); err != nil {
			t.Fatal(err)
		}
		if got := ask(step.want); got != step.want {
			t.Errorf("after %s: got %q, want %q", step.word, got, step.want)
		}
	}
	for _, step := range []struct{ post, want string }{{"/hang", "timeout"}, {"/heal", "200 OK"}, {"/break", "503 msk-1 is broken"}} {
		response, err := http.Post(address+step.post, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := ask(step.want); got != step.want {
			t.Errorf("after POST %s: got %q, want %q", step.post, got, step.want)
		}
	}
}

func TestTakesTheNextFreePort(t *testing.T) {
	taken := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	denied := os.NewSyscallError("bind", syscall.EACCES)
	for name, c := range map[string]struct {
		open  func(port uint16) error
		want  uint16
		moved string
		err   error
	}{
		"the usual one":     {func(uint16) error { return nil }, 53, "", nil},
		"two are taken":     {func(n uint16) error { return map[bool]error{true: taken}[n < 55] }, 55, "port 53 is taken", nil},
		"none may be had":   {func(uint16) error { return denied }, 53, "", denied},
		"everything is not": {func(uint16) error { return taken }, 0, "", taken},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := firstFree(53, func(n uint16) (string, error) { return "", c.open(n) })
			if !errors.Is(err, c.err) || p.number != c.want {
				t.Errorf("got port %d and %v, want %d and %v", p.number, err, c.want, c.err)
			}
			if err == nil && p.moved() != c.moved {
				t.Errorf("got %q, want %q", p.moved(), c.moved)
			}
		})
	}
}

func TestTwoClaimsNeverShareAPort(t *testing.T) {
	one, err := claimPort(usualAdmin, tryTCP)
	if err != nil {
		t.Fatal(err)
	}
	defer one.release()
	other, err := claimPort(usualAdmin, tryTCP)
	if err != nil {
		t.Fatal(err)
	}
	defer other.release()
	if one.number == other.number {
		t.Errorf("both claim port %d", one.number)
	}
}

func TestLinesAreSplitAsShellsDo(t *testing.T) {
	for line, want := range map[string][]string{
		"":                 nil,
		"  \t ":            nil,
		"break msk-1":      {"break", "msk-1"},
		" a  b ":           {"a", "b"},
		`x "two words" y`:  {"x", "two words", "y"},
		`x 'a "b" c'`:      {"x", `a "b" c`},
		`--reason=""`:      {"--reason="},
		`x ""`:             {"x", ""},
		`x "never closed `: {"x", "never closed "},
	} {
		if diff := cmp.Diff(want, words(line)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

func TestTypedMistakesAreAnswered(t *testing.T) {
	y := typist{world: stillWorld(), router: &router{partner: sibtel(port{1790, 1790})}, tell: newTeller(io.Discard, false)}
	for line, want := range map[string]string{
		"brek msk-1":        `there is no "brek" (did you mean break?)`,
		"break":             "which place? One of msk-1, msk-2, fra, nsk, or all",
		"break msk-1 msk-2": "which place? One of msk-1, msk-2, fra, nsk, or all",
		"gslb break moon":   "which place? One of msk-1, msk-2, fra, nsk, or all",
		"sever":             "which partner? There is sibtel",
		"withdraw msk-1":    "which partner? There is sibtel",
		"gslb sever sibtel": "sibtel's router does not run; restore sibtel starts it again",
		"dig www.demo.test": "dig is for another terminal: this one is the demo's",
		"xyzzy":             `there is no "xyzzy"; help tells what there is`,
	} {
		err := y.obey(t.Context(), words(line))
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", line, err, want)
		}
	}
}

func TestHintsTellWhatComesNearer(t *testing.T) {
	all := map[string]limits{"web": {10, 20}}
	serving := func(failed, failing, succeeding int) steer.EndpointView {
		return steer.EndpointView{Check: "web", Verdict: "up", Failed: failed, Window: 20, Failing: failing, Succeeding: succeeding}
	}
	withdrawn := func(failing, succeeding int) steer.EndpointView {
		return steer.EndpointView{Check: "web", Verdict: "withdrawn", Failed: 10, Window: 20, Failing: failing, Succeeding: succeeding}
	}
	h := hints{places: map[string]string{}}
	now := time.Unix(1_800_000_000, 0)
	for _, step := range []struct {
		after    time.Duration
		endpoint steer.EndpointView
		want     string
	}{
		{0, serving(0, 0, 20), ""},
		{time.Second, serving(1, 1, 0), "a, b: 1 of 20 checks failed, withdrawn at 10"},
		{time.Second / 2, serving(2, 2, 0), ""}, // too soon
		{time.Second / 2, serving(3, 3, 0), "a, b: 3 of 20 checks failed, withdrawn at 10"},
		{time.Second, serving(3, 3, 0), ""}, // nothing new
		{time.Second, serving(3, 0, 1), "a, b: good checks again, not withdrawn"},
		{time.Second, serving(3, 0, 2), ""},
		{time.Second, withdrawn(10, 0), ""},
		{time.Second, withdrawn(0, 1), "a, b: good checks again, restored at 20 in a row"},
		{time.Second, withdrawn(0, 4), ""},
		{time.Second, withdrawn(0, 7), "a, b: 5 good checks in a row, restored at 20"},
		{time.Second, withdrawn(0, 9), ""},
		{time.Second, withdrawn(0, 10), "a, b: 10 good checks in a row, restored at 20"},
		{time.Second, serving(0, 0, 20), ""},
	} {
		now = now.Add(step.after)
		place := func(name string) steer.PlaceView {
			return steer.PlaceView{Place: name, Endpoints: []steer.EndpointView{step.endpoint}}
		}
		services := []steer.ServiceView{{Places: []steer.PlaceView{place("a"), place("b")}}, {Places: []steer.PlaceView{place("a")}}}
		if got := h.next(services, all, now); got != step.want {
			t.Errorf("%+v:\n got %q\nwant %q", step.endpoint, got, step.want)
		}
	}
}

// fakeServer answers as a name server whose state a test sets.
type fakeServer struct {
	version string
	answer  string
	events  []admin.Event
	brought []admin.Peer // by the one partner
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body any
	switch r.URL.Path {
	case "/v1/status":
		body = admin.Status{Answers: f.version}
	case "/v1/partners":
		body = admin.Partners{Partners: []admin.Partner{{Partner: "sibtel", Peers: f.brought}}}
	case "/v1/explain":
		body = admin.Explanation{Lines: []steer.Line{{{Key: "answer", Value: f.answer}}}}
	case "/v1/events":
		body = f.events
	}
	_ = json.NewEncoder(w).Encode(body)
}

func TestCausesAreToldBeforeEffectsAndOnce(t *testing.T) {
	fake := &fakeServer{version: "1", answer: "127.0.10.1"}
	server := httptest.NewServer(fake)
	defer server.Close()
	var out strings.Builder
	s := newScene(stillWorld(), Interval)
	w := newWatcher(door{netip.MustParseAddrPort(server.Listener.Addr().String())}, newTeller(&out, false), s, "")
	begin := w.since
	look := func() (lines []string) {
		out.Reset()
		w.look(t.Context())
		for line := range strings.Lines(out.String()) {
			lines = append(lines, strings.TrimSpace(line[len("15:04:05 "):]))
		}
		return lines
	}
	check := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, look()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	moved := []string{
		"www.demo.test for a client in Russia is now fra 127.0.10.3, was msk-1 127.0.10.1",
		"www.demo.test for a client in Germany is now fra 127.0.10.3, was msk-1 127.0.10.1",
		"video.demo.test for a client of sibtel is now fra 127.0.10.3, was msk-1 127.0.10.1",
	}
	check("at first")
	fake.version, fake.answer = "2", "127.0.10.3"
	check("the journal is late")
	fake.events = []admin.Event{
		{Time: begin.Add(-time.Second), Text: "long ago"},
		{Time: begin.Add(time.Second), Kind: "server", Text: "started"},
		{Time: begin.Add(time.Second), Kind: "endpoint", Text: "msk-1/web withdrawn"},
	}
	check("the journal is there", append([]string{"msk-1/web withdrawn"}, moved...)...)
	check("nothing is new")
	fake.events = append(fake.events, admin.Event{Time: begin.Add(time.Second), Text: "at the same time"})
	check("one more event of the same time", "at the same time")
	fake.brought = []admin.Peer{{Accepted: 2}}
	check("prefixes come, and the journal is late")
	fake.events = append(fake.events, admin.Event{Time: begin.Add(2 * time.Second), Kind: "session", Text: "session up"})
	check("the journal is there", "session up", "sibtel: 2 prefixes")
}

func TestPrefixesAreCountedInWords(t *testing.T) {
	for want, peers := range map[string][]admin.Peer{
		"no prefixes":                  nil,
		"1 prefix":                     {{Accepted: 1}},
		"2 prefixes":                   {{Accepted: 2}},
		"2 prefixes, stale":            {{Accepted: 2, Stale: 2}},
		"3 prefixes, 1 of them stale":  {{Accepted: 2}, {Accepted: 1, Stale: 1}},
		"no prefixes, 5 refused":       {{Refused: map[bgp.Refusal]int{bgp.RefusedOrigin: 2, bgp.RefusedWithin: 3}}},
		"2 prefixes, stale, 1 refused": {{Accepted: 2, Stale: 2}, {Refused: map[bgp.Refusal]int{bgp.RefusedOrigin: 1}}},
	} {
		if got := intakeOf(admin.Partner{Peers: peers}).text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAttendEndsWithThePipe(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := newFolder("/bin/true", newScene(stillWorld(), Interval))
	if err != nil {
		t.Fatal(err)
	}
	pipe, end := io.Pipe()
	ended := make(chan error, 1)
	serving := make(chan string, 1)
	go func() {
		ended <- Attend(t.Context(), string(f), pipe, func(ctx context.Context, config string) error {
			serving <- config
			<-ctx.Done()
			return nil
		})
	}()
	if got := <-serving; got != f.config() {
		t.Errorf("serves by %s, want %s", got, f.config())
	}
	_ = end.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(string(f)); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", f, err)
	}
}

func TestAttendLeavesOtherFoldersAlone(t *testing.T) {
	above := t.TempDir()
	t.Setenv("TMPDIR", above)
	for _, path := range []string{"/", above, filepath.Join(above, "mine"), filepath.Join(above, "gslb-demo", "x"), "gslb-demo"} {
		err := Attend(t.Context(), path, strings.NewReader(""), func(context.Context, string) error {
			t.Errorf("%s is served", path)
			return nil
		})
		if err == nil {
			t.Errorf("%s is taken for the folder of a demo", path)
		}
	}
}
