package sim

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"gslb/health"
)

// command is what a word does to the world.
type command struct {
	do    func(*world, *step) error
	early bool // makes sense before the server runs, too
	input bool // takes input
}

func commandOf(word string) (c command, known bool) {
	switch word {
	case "start":
		return command{do: (*world).doStart, early: true}, true
	case "restart":
		return command{do: (*world).doRestart}, true
	case "run":
		return command{do: (*world).doRun}, true
	case "fail", "hang", "flaky", "delay", "heal":
		return command{do: (*world).doEndpoint, early: true}, true
	case "write":
		return command{do: (*world).doFile, early: true, input: true}, true
	case "edit", "remove":
		return command{do: (*world).doFile, early: true}, true
	case "connect", "announce", "withdraw", "complete", "lose", "shutdown":
		return command{do: (*world).doSession}, true
	case "ask":
		return command{do: (*world).doAsk}, true
	case "explain":
		return command{do: (*world).doExplain}, true
	case "status":
		return command{do: (*world).doStatus}, true
	case "probes":
		return command{do: (*world).doProbes}, true
	}
	return command{}, false
}

// do carries out one step. Its error says that the step makes no sense.
func (w *world) do(s *step) error {
	c, known := commandOf(s.words[0])
	switch {
	case !known:
		return errors.New("there is no such command")
	case s.input != nil && !c.input:
		return errors.New("takes no input")
	case !c.early && w.server.policy == nil && w.refused != nil:
		return fmt.Errorf("the server does not run, for its configuration has errors:\n%w", w.refused)
	case !c.early && w.server.policy == nil:
		return errors.New("the server does not run: it wants start, and a configuration without errors")
	}
	return c.do(w, s)
}

func (w *world) doStart(s *step) error {
	switch {
	case len(s.words) > 1:
		return errors.New("takes no words")
	case w.server.policy != nil:
		return errors.New("the server runs already")
	}
	return accepted(w.start(memory{}))
}

// accepted makes a refused configuration no error: its problems have been shown.
func accepted(err error) error {
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}

func (w *world) doRestart(s *step) error {
	var after time.Duration
	switch {
	case len(s.words) == 1:
	case len(s.words) == 3 && s.words[1] == "after":
		var err error
		if after, err = duration(s.words[2]); err != nil {
			return err
		}
	default:
		return errors.New("is said as: restart, or restart after 5m")
	}
	return accepted(w.restart(after))
}

// longest bounds how much time one step may let pass.
const longest = 31 * 24 * time.Hour

func duration(word string) (time.Duration, error) {
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 || d > longest {
		return 0, fmt.Errorf("%q is not a time of at most %d days, as 90s", word, longest/(24*time.Hour))
	}
	return d, nil
}

func (w *world) doRun(s *step) error {
	switch {
	case len(s.words) == 2:
		d, err := duration(s.words[1])
		if err != nil {
			return err
		}
		w.pass(w.now.Add(d), func() bool { return false })
		return nil
	case len(s.words) == 5 && strings.TrimSuffix(s.words[2], "s") == "probe" && s.words[3] == "of":
		return w.runProbes(s.words[1], s.words[4])
	}
	return errors.New("is said as: run 90s, or run 10 probes of ADDRESS")
}

// runProbes lets time pass until an address has been probed so often, and not a moment longer.
func (w *world) runProbes(times, of string) error {
	n, err := strconv.Atoi(times)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not how often", times)
	}
	address, err := netip.ParseAddr(of)
	if err != nil {
		return fmt.Errorf("%q is not an address", of)
	}
	goal := w.probed(address) + n
	w.pass(w.now.Add(longest), func() bool { return w.probed(address) >= goal })
	if w.probed(address) < goal {
		return fmt.Errorf("%s is not probed so often", address)
	}
	return nil
}

func (w *world) probed(address netip.Addr) int {
	total := 0
	for k, n := range w.server.counts {
		if k.Address == address {
			total += n
		}
	}
	return total
}

func (w *world) doEndpoint(s *step) error {
	if len(s.words) < 2 {
		return errors.New("wants an address")
	}
	address, err := netip.ParseAddr(s.words[1])
	if err != nil {
		return fmt.Errorf("%q is not an address", s.words[1])
	}
	rest := strings.Join(s.words[2:], " ")
	switch word := s.words[0]; {
	case word == "fail" && rest != "":
		w.endpoints[address] = endpoint{cause: rest}
	case word == "hang" && rest == "":
		w.endpoints[address] = endpoint{hangs: true}
	case word == "flaky" && rest != "" && strings.Trim(rest, "SF") == "":
		w.endpoints[address] = endpoint{cause: "status 503", pattern: rest}
	case word == "delay" && rest != "":
		d, err := duration(rest)
		if err != nil {
			return err
		}
		w.endpoints[address] = endpoint{delay: d}
	case word == "heal" && rest == "":
		delete(w.endpoints, address)
	default:
		return errors.New("is said as: fail ADDRESS CAUSE, hang ADDRESS, flaky ADDRESS SSF, delay ADDRESS 800ms, or heal ADDRESS")
	}
	return nil
}

// doFile changes a file, and lets a server that runs see it.
func (w *world) doFile(s *step) error {
	if len(s.words) < 2 {
		return errors.New("wants the name of a file")
	}
	if s.words[1] == geoFile {
		return w.changeGlobe(s)
	}
	if err := w.changeFile(s); err != nil {
		return err
	}
	if w.server.policy == nil {
		return nil
	}
	return accepted(w.load())
}

func (w *world) changeGlobe(s *step) error {
	if s.words[0] != "write" || len(s.words) != 2 {
		return errors.New("geo can only be written as a whole")
	}
	globe, err := readGlobe(s.text())
	if err != nil {
		return err
	}
	w.globe = globe
	if w.server.policy != nil {
		w.server.publisher.Survey(w.time)
	}
	return nil
}

func (w *world) changeFile(s *step) error {
	name := s.words[1]
	text, there := w.files[name]
	switch {
	case s.words[0] == "write" && len(s.words) == 2:
		w.files[name] = s.text()
		return nil
	case !there:
		return fmt.Errorf("there is no file %s", name)
	case s.words[0] == "remove" && len(s.words) == 2:
		delete(w.files, name)
		return nil
	case s.words[0] == "edit" && len(s.words) == 4:
		if n := strings.Count(text, s.words[2]); n != 1 {
			return fmt.Errorf("%q stands %d times in %s, not once", s.words[2], n, name)
		}
		w.files[name] = strings.Replace(text, s.words[2], s.words[3], 1)
		return nil
	}
	return errors.New(`is said as: write FILE, edit FILE "OLD" "NEW", or remove FILE`)
}

// doStatus shows every endpoint: what the rule says of it, and why.
func (w *world) doStatus(*step) error {
	for _, svc := range w.server.publisher.Latest().Overview(w.now) {
		for _, place := range svc.Places {
			if ramp := place.Ramp; ramp != nil {
				place.Standing += fmt.Sprintf(", %d%% of its clients are back", int(100*ramp.Part))
			}
			w.say("%s %s %s", svc.Service, place.Place, place.Standing)
			for _, e := range place.Endpoints {
				text := fmt.Sprintf("  %s %s", e.Address, e.Verdict)
				if e.Check != "" {
					text += fmt.Sprintf(", %d of %d failed", e.Failed, e.Results)
				}
				if e.Verdict == health.Withdrawn.String() && e.Succeeding > 0 {
					text += fmt.Sprintf(", %d good in a row", e.Succeeding)
				}
				if e.Cause != "" {
					text += ", last: " + e.Cause
				}
				for _, word := range e.Words() {
					text += ", " + word
				}
				w.say("%s", text)
			}
		}
	}
	return nil
}

// doProbes shows how often each endpoint was probed since the last time.
func (w *world) doProbes(*step) error {
	for _, wa := range w.server.watches {
		w.say("%s %s %d", wa.key.Address, wa.key.Check().Kind, w.server.counts[wa.key])
	}
	clear(w.server.counts)
	return nil
}
