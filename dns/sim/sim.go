package sim

import "fmt"

// Run plays a script, which its name stands for in errors, and gives it back with what really
// happened below each command. The error tells of a script that cannot be played: a mistake in its
// form, or a command that makes no sense. That the server refuses a configuration, or a question,
// is no error, but what happened.
func Run(name string, text []byte) (transcript []byte, err error) {
	s, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w, err := newWorld(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	happened := map[*step][]string{}
	for _, l := range s.lines {
		if l.step == nil {
			continue
		}
		w.out = nil
		if err := w.do(l.step); err != nil {
			return nil, fmt.Errorf("%s: %w", name, fault(l.step.number, "%s: %w", l.step.words[0], err))
		}
		happened[l.step] = w.out
	}
	return []byte(s.format(func(st *step) []string { return happened[st] })), nil
}
