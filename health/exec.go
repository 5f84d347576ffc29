package health

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unicode"
)

// commandsMax is how many commands run at once: each is a process or several.
const commandsMax = 32

// Exec runs a command with the exit codes of a monitoring plugin: 0 is ok, 1 a warning, 2 critical, 3
// unknown. What it says in its first line is the cause of a failure, and the value of the label load
// among its performance data the load.
type Exec struct {
	Command List   // the program and its arguments, in which {address} and {port} are filled in
	Port    uint16 // that the command is told; 0: none
	Strict  bool   // a warning is a failure
}

// String is the word of the config.
func (Exec) String() string { return "exec" }

func (e Exec) tell(add func(field, value string)) {
	add("port", number(e.Port))
	for _, word := range e.Command.Texts() {
		add("command", word)
	}
	add("strict", truth(e.Strict))
}

func (e Exec) ask(v *visit) error {
	if e.Command == (List{}) {
		return fault("the command of the check is not one")
	}
	ctx, end := v.timed()
	defer end()
	select {
	case v.commands <- struct{}{}:
	case <-ctx.Done():
		return hindrance("too many commands at once")
	}
	return v.apart(ctx, errand{e, v.at}, func() error {
		defer func() { <-v.commands }()
		return e.run(ctx, v.Outside, v.at)
	})
}

// run runs the command in a process group of its own, and ends the group when ctx ends, or when the
// command has and left others behind. There is no shell, and nothing of our environment but PATH.
func (e Exec) run(ctx context.Context, o *Outside, at netip.Addr) error {
	words := e.words(at)
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir = "/"
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GSLB_ADDRESS=" + at.String()}
	if e.Port != 0 {
		command.Env = append(command.Env, "GSLB_PORT="+number(e.Port))
	}
	var said firstLine
	command.Stdout = &said
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endGroup := func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.Cancel = endGroup
	command.WaitDelay = grace / 2
	err := command.Run()
	if command.Process != nil {
		endGroup() // with whom the command left behind; of an empty group nothing comes of it
	}
	switch state := command.ProcessState; {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return hindrance("command not found")
	case state == nil:
		return unstarted(err)
	case state.ExitCode() < 0:
		return fault("command " + state.String()) // "signal: killed"
	default:
		if load, ok := performance(said.kept); ok {
			o.weigh(e, at, load)
		}
		return e.judge(state.ExitCode(), said.text())
	}
}

// unstarted gives the error of a command that could not be started its cause. The endpoint has no part in it.
func unstarted(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return hindrance("command does not start: " + errnoCause(errno))
	}
	return hindrance("command does not start")
}

// words are the program and its arguments for an address.
func (e Exec) words(at netip.Addr) []string {
	words := e.Command.Texts()
	fill := strings.NewReplacer("{address}", at.String(), "{port}", number(e.Port))
	for i := range words[1:] {
		words[1+i] = fill.Replace(words[1+i])
	}
	return words
}

// judge gives an exit code its meaning.
func (e Exec) judge(code int, text string) error {
	word := fmt.Sprintf("exit %d", code)
	switch code {
	case 0:
		return nil
	case 1:
		if !e.Strict {
			return nil
		}
		word = "warning"
	case 2:
		word = "critical"
	case 3:
		word = "unknown"
	}
	if text != "" {
		word += ": " + text
	}
	return fault(word)
}

// lineMax is how many bytes of a line are kept.
const lineMax = 400

// firstLine keeps the first line of what is written to it, and no more.
type firstLine struct {
	kept []byte
	over bool
}

// Write takes everything.
func (f *firstLine) Write(p []byte) (int, error) {
	line, _, ended := bytes.Cut(p, []byte("\n"))
	if !f.over {
		f.kept = append(f.kept, line[:min(len(line), lineMax-len(f.kept))]...)
	}
	f.over = f.over || ended || len(f.kept) == lineMax
	return len(p), nil
}

// text is the line without the numbers that follow a bar, which change from probe to probe.
func (f *firstLine) text() string {
	text, _, _ := strings.Cut(string(f.kept), "|")
	return oneLine(text)
}

// oneLine makes a text from elsewhere fit a line of reasons: short, and nothing but letters.
func oneLine(text string) string {
	const most = 100
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.IsSpace(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
	clean = strings.TrimSpace(clean)
	if letters := []rune(clean); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return clean
}

// ready says whether the program is there; see [Ready].
func (e Exec) ready() (key string, err error) {
	words := e.Command.Texts()
	if len(words) == 0 {
		return "command", errors.New("names no program")
	}
	_, err = exec.LookPath(words[0])
	return "command", err
}
