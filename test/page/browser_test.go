package page

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gslb/test/rig"
)

// browser is a Chromium without a window.
type browser struct {
	*pipe
	cmd    *exec.Cmd
	folder string
	ends   []*os.File
}

// flags keep Chromium from asking anybody but us anything: it resolves no names, and looks for no updates.
var flags = []string{
	"--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
	"--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
	"--disable-extensions", "--metrics-recording-only", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE 127.*",
	"--no-proxy-server", "--lang=en-GB",
}

// startBrowser starts Chromium; where there is none, the error says so.
func startBrowser() (*browser, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	b := &browser{}
	if b.folder, err = os.MkdirTemp("", "gslb-page-"); err != nil {
		return nil, err
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	b.ends = []*os.File{ourOut, ourIn}
	b.cmd = exec.Command(path, append(flags, "--user-data-dir="+filepath.Join(b.folder, "profile"))...)
	b.cmd.Env = append(os.Environ(), "HOME="+b.folder)
	b.cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	theirIn.Close()
	theirOut.Close()
	b.pipe = newPipe(ourIn, ourOut)
	_, err = b.call("", "Browser.getVersion", nil)
	return b, err
}

// close ends the browser and all of its processes.
func (b *browser) close() {
	_, _ = b.call("", "Browser.close", nil)
	for _, end := range b.ends {
		end.Close()
	}
	ended := make(chan struct{})
	go func() { _ = b.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	_ = os.RemoveAll(b.folder)
}

// tab is a page in a context of its own: it shares nothing with those of other tests.
type tab struct {
	t       *testing.T
	b       *browser
	session string
	origin  string // of the server: whatever else is asked for is a fault

	mu      sync.Mutex
	faults  []string          // what the page wrote to the console, threw, or asked of others; guarded by mu
	headers map[string]string // of the last document; guarded by mu
	allowed []string          // faults with one of these words are expected; guarded by mu
}

// openTab opens a tab for the page of a server. At the end of the test there must be no fault.
func openTab(t *testing.T, origin string) *tab {
	t.Helper()
	b, err := chromium()
	if err != nil {
		rig.Missing(t, "chromium: %v (apt-get install chromium)", err)
	}
	p := &tab{t: t, b: b, origin: origin}
	var of struct{ BrowserContextID, TargetID, SessionID string }
	p.must("", "Target.createBrowserContext", args{"disposeOnDetach": true}, &of)
	p.must("", "Target.createTarget", args{"url": "about:blank", "browserContextId": of.BrowserContextID, "width": 1280, "height": 900}, &of)
	p.must("", "Target.attachToTarget", args{"targetId": of.TargetID, "flatten": true}, &of)
	p.session = of.SessionID
	b.listen(p.session, p.hear)
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.do(domain+".enable", nil)
	}
	p.do("Emulation.setFocusEmulationEnabled", args{"enabled": true}) // there is no window that could have the focus
	t.Cleanup(func() {
		if t.Failed() {
			p.shoot("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		_, _ = b.call("", "Target.disposeBrowserContext", args{"browserContextId": of.BrowserContextID})
		for _, fault := range p.told() {
			t.Errorf("the page: %s", fault)
		}
	})
	return p
}

func (p *tab) must(session, method string, with args, into any) {
	p.t.Helper()
	result, err := p.b.call(session, method, with)
	if err == nil && into != nil {
		err = json.Unmarshal(result, into)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) do(method string, with args) {
	p.t.Helper()
	p.must(p.session, method, with, nil)
}

// hear keeps what a test wants to know later.
func (p *tab) hear(n notice) {
	var e struct {
		Type     string
		Args     []struct{ Value, Description any }
		Entry    struct{ Level, Text, URL string }
		Request  struct{ URL string }
		Response struct {
			URL     string
			Headers map[string]string
		}
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if json.Unmarshal(n.params, &e) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case n.method == "Runtime.consoleAPICalled" && (e.Type == "error" || e.Type == "warning"):
		p.fault("console %s: %v", e.Type, e.Args)
	case n.method == "Runtime.exceptionThrown":
		p.fault("exception: %s %s", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
	case n.method == "Log.entryAdded" && (e.Entry.Level == "error" || e.Entry.Level == "warning"):
		p.fault("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case n.method == "Network.requestWillBeSent":
		if !strings.HasPrefix(e.Request.URL, p.origin+"/") && e.Request.URL != "about:blank" {
			p.fault("asks somebody else: %s", e.Request.URL)
		}
	case n.method == "Network.responseReceived" && e.Type == "Document":
		p.headers = e.Response.Headers
	}
}

func (p *tab) fault(format string, of ...any) {
	text := fmt.Sprintf(format, of...)
	text = text[:min(len(text), 300)]
	if !slices.ContainsFunc(p.allowed, func(words string) bool { return strings.Contains(text, words) }) {
		p.faults = append(p.faults, text)
	}
}

func (p *tab) told() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.faults...)
}

// allow expects faults with one of these words from now on.
func (p *tab) allow(words ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = words
}

// shoot makes a screenshot of what can be seen.
func (p *tab) shoot(name string) {
	result, err := p.b.call(p.session, "Page.captureScreenshot", args{"format": "png"})
	var shot struct{ Data string }
	if err == nil {
		err = json.Unmarshal(result, &shot)
	}
	picture, decoded := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil || decoded != nil {
		p.t.Errorf("screenshot %s: %v", name, err)
		return
	}
	file := filepath.Join(artefacts(p.t), name+".png")
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		p.t.Error(err)
	}
}

// artefacts is the folder that screenshots are kept in, or one that ends with the test.
func artefacts(t *testing.T) string {
	folder := os.Getenv("GSLB_ARTEFACTS")
	if folder == "" {
		return t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}
