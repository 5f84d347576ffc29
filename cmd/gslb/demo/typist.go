package demo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"gslb/config"
)

// typist does what is typed at the demo's own terminal.
type typist struct {
	world   *world
	router  *router
	tell    *teller
	quit    func()
	crash   chan<- struct{} // asks for the name server's sudden end
	program string
	config  string
}

// help is what there is to type.
const help = `
  break PLACE       its checks get status 503
  hang PLACE        it takes connections and does not answer
  stop PLACE        it refuses connections
  heal PLACE        it is sound again; "all" stands for every place
  drain PLACE       keep it out of answers
  undrain PLACE     end that
  withdraw sibtel   the partner takes its networks back, and keeps its session
  announce sibtel   it announces them again
  sever sibtel      kill -9 its router: its networks stay, stale, for a while
  restore sibtel    start it again
  crash             kill -9 the name server and start it again: it remembers
  status, events, partners, routes, check, explain NAME --client ADDRESS
                    and the other verbs of gslb, as in another terminal
  quit              end the demo, as Ctrl-C does
`

// verbs are those of gslb that can be typed.
func verbs() []string {
	return []string{"drain", "undrain", "status", "explain", "events", "partners", "partner-kit", "routes", "reload", "check", "diff", "version"}
}

// read does each line until there is no more, or somebody quits.
func (y *typist) read(ctx context.Context, in io.Reader) {
	if in == nil {
		return
	}
	lines := bufio.NewScanner(in)
	for ctx.Err() == nil && lines.Scan() {
		if err := y.obey(ctx, words(lines.Text())); err != nil {
			fmt.Fprintf(y.tell.out, "%v\n", err)
		}
	}
}

// obey does what the words say.
func (y *typist) obey(ctx context.Context, words []string) error {
	if len(words) > 1 && words[0] == "gslb" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	m, moody := moodOf(words[0])
	switch {
	case moody:
		return y.put(m, words[1:])
	case slices.Contains(verbs(), words[0]):
		return y.call(ctx, words)
	case slices.Contains(routerWords(), words[0]):
		return y.turn(words[0], words[1:])
	case words[0] == "help":
		fmt.Fprintln(y.tell.out, strings.TrimRight(help, "\n"))
		return nil
	case words[0] == "quit" || words[0] == "exit":
		y.quit()
		return nil
	case words[0] == "crash":
		select {
		case y.crash <- struct{}{}:
		case <-ctx.Done():
		}
		return nil
	case words[0] == "dig" || words[0] == "curl":
		return fmt.Errorf("%s is for another terminal: this one is the demo's", words[0])
	}
	if near := config.Suggest(words[0], slices.Concat(verbs(), routerWords(), []string{"break", "hang", "stop", "heal", "start", "crash", "help", "quit"})); near != "" {
		return fmt.Errorf("there is no %q (did you mean %s?)", words[0], near)
	}
	return fmt.Errorf("there is no %q; help tells what there is", words[0])
}

// put brings places into a mood.
func (y *typist) put(m mood, rest []string) error {
	if len(rest) != 1 {
		rest = []string{""}
	}
	places, err := y.world.find(rest[0])
	for _, p := range places {
		if err == nil {
			err = p.become(m)
		}
	}
	return err
}

// turn does something to the partner.
func (y *typist) turn(word string, rest []string) error {
	if len(rest) != 1 || rest[0] != y.router.partner.Name {
		return fmt.Errorf("which partner? There is %s", y.router.partner.Name)
	}
	return y.router.obey(word)
}

// call runs a verb of gslb, as it would be in another terminal.
func (y *typist) call(ctx context.Context, words []string) error {
	out, err := exec.CommandContext(ctx, y.program, append(words, "-c", y.config)...).CombinedOutput()
	if len(out) == 0 {
		return err
	}
	_, _ = y.tell.out.Write(out)
	return nil
}

// words splits a line at blanks, but not within quotes.
func words(line string) []string {
	var all []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}
