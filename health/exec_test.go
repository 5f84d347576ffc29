package health

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sh is a check that runs a script, with the words of the check behind it.
func sh(script string, words ...string) Exec {
	return Exec{Command: ListOf(append([]string{"sh", "-c", script, "sh"}, words...)...)}
}

func TestCommandsTellTheCause(t *testing.T) {
	strict := func(e Exec) Exec { e.Strict = true; return e }
	on80 := func(e Exec) Exec { e.Port = 80; return e }
	ask(t, []asked{
		{"ok", sh("echo OK; exit 0"), ""},
		{"warning", sh("exit 1"), ""},
		{"warning, strictly", strict(sh("echo load 9; exit 1")), "warning: load 9"},
		{"critical", sh("echo 'load 19 | load=19;5;10'; echo more; exit 2"), "critical: load 19"},
		{"unknown, silently", sh("exit 3"), "unknown"},
		{"another code", sh("echo bad usage >&2; exit 64"), "exit 64"},
		{"killed", sh("kill -9 $$"), "command signal: killed"},
		{"address and port", on80(sh(`echo "$1 $2 $GSLB_ADDRESS $GSLB_PORT"; exit 2`, "{address}:{port}", "{port}")), "critical: 127.0.0.1:80 80 127.0.0.1 80"},
		{"no shell of ours", Exec{Command: ListOf("printf", "%s", "$(id)")}, ""},
		{"little environment", sh(`echo $(env | cut -d= -f1 | grep -v -e ^_ -e PWD -e SHLVL | sort); exit 2`), "critical: GSLB_ADDRESS LC_ALL PATH"},
		{"output without end", sh("(yes | head -c 3000000); exit 2"), "critical: y"},
		{"a line without end", sh("(yes | head -c 3000000 | tr -d '\\n'); exit 2"), "critical: " + strings.Repeat("y", 100) + "…"},
		{"bytes of no text", sh(`printf 'a\033[1m\377\tb'; exit 2`), "critical: a[1m b"},
	})
	for _, c := range []struct {
		name, want string
		kind       Exec
	}{
		{"no program", "command not found", Exec{Command: ListOf("no-such-program-here")}},
		{"no program at a path", "command does not start: no such file or directory", Exec{Command: ListOf("/no/such/program")}},
		{"no command", "the command of the check is not one", Exec{}},
		{"a folder", "command does not start: permission denied", Exec{Command: ListOf("/etc")}},
		{"hanging", "timeout after 300ms", sh("sleep 100")},
		{"hanging, and deaf", "timeout after 300ms", sh("trap '' TERM INT HUP; sleep 100; sleep 100")},
	} {
		timeout := time.Minute
		if strings.HasPrefix(c.want, "timeout") {
			timeout = 300 * time.Millisecond
		}
		if got := NewOutside().Probe(t.Context(), loopback, Check{Kind: c.kind, Timeout: timeout}); got.Cause != c.want || got.Took > 30*time.Second {
			t.Errorf("%s: cause %q after %v, want %q", c.name, got.Cause, got.Took, c.want)
		}
	}
}

// alive tells whether a process lives. One that nobody has waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && syscall.Kill(pid, 0) == nil
}

// TestCommandsEndWithTheirChildren plays a command that hangs with its child, and one that leaves a child
// behind that holds its output.
func TestCommandsEndWithTheirChildren(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"hangs":                {`sleep 1000 & echo $! >"$1"; wait`, "timeout after "},
		"leaves a child":       {`sleep 1000 & echo $! >"$1"; exit 0`, ""},
		"leaves one and fails": {`sleep 1000 & echo $! >"$1"; echo no; exit 2`, "critical: no"},
	} {
		timeout := time.Minute
		if strings.HasPrefix(c.want, "timeout") {
			timeout = time.Second
		}
		pid := 0
		for ; pid == 0; timeout *= 2 { // a busy machine may not have begun the child before the timeout
			file := filepath.Join(t.TempDir(), "pid")
			got := NewOutside().Probe(t.Context(), loopback, Check{Kind: sh(c.script, file), Timeout: timeout})
			if !strings.HasPrefix(got.Cause, c.want) || c.want == "" && !got.OK {
				t.Fatalf("%s: cause %q, want %q", name, got.Cause, c.want)
			}
			text, _ := os.ReadFile(file) // there may be none yet
			pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		for late := time.Now().Add(time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(late) {
				syscall.Kill(pid, syscall.SIGKILL)
				t.Fatalf("%s: the child lives on", name)
			}
		}
	}
}

func TestCommandsWaitForATurn(t *testing.T) {
	o := NewOutside()
	for range commandsMax {
		o.commands <- struct{}{}
	}
	check := Check{Kind: sh("exit 0"), Timeout: 50 * time.Millisecond}
	if got := o.Probe(t.Context(), loopback, check); got.Cause != "too many commands at once" {
		t.Errorf("cause %q", got.Cause)
	}
	<-o.commands
	check.Timeout = time.Minute
	if got := o.Probe(t.Context(), loopback, check); !got.OK {
		t.Errorf("cause %q", got.Cause)
	}
	if len(o.commands) != commandsMax-1 {
		t.Errorf("%d turns are taken, want %d", len(o.commands), commandsMax-1)
	}
}
