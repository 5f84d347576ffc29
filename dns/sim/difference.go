package sim

import (
	"fmt"
	"slices"
)

// Mistake is what is wrong with one line of a script.
type Mistake struct {
	Line int // in the file, from 1
	Err  error
}

// Error tells the line and the mistake.
func (m *Mistake) Error() string { return fmt.Sprintf("line %d: %v", m.Line, m.Err) }

// Unwrap gives the mistake without its line.
func (m *Mistake) Unwrap() error { return m.Err }

// Difference is a command that came to something else than its script says.
type Difference struct {
	Line     int    // of the command, in the script
	Command  string // as it stands there
	Told     []string
	Happened []string
}

// Differences compares a script with its transcript, which [Run] gave: by those commands of which the
// script says what they come to. A command with nothing below it says nothing.
func Differences(script, transcript []byte) ([]Difference, error) {
	told, err := parse(string(script))
	if err != nil {
		return nil, err
	}
	happened, err := parse(string(transcript))
	if err != nil {
		return nil, err
	}
	if len(told.lines) != len(happened.lines) {
		return nil, fmt.Errorf("a transcript of another script")
	}
	var all []Difference
	for i, l := range told.lines {
		is := happened.lines[i].step
		if l.step == nil || is == nil || l.step.output == nil || slices.Equal(l.step.output, is.output) {
			continue
		}
		all = append(all, Difference{Line: l.step.number, Command: l.text[len(commandMark):], Told: l.step.output, Happened: is.output})
	}
	return all, nil
}
