package sim

import (
	"fmt"
	"slices"
	"strings"
)

// script is a story, taken apart. The lines of the text are kept, so that it can be written again.
type script struct {
	head  []string // everything up to and with the line that begins the script
	files map[string]string
	geo   string // the map of the globe; a file to the script, but none to the server
	lines []line
}

// line is one line of the story: a step, or a comment or empty line between steps.
type line struct {
	text string
	step *step
}

// step is one command of the story.
type step struct {
	number int      // of its line in the file, from 1
	words  []string // of the command
	input  []string
	output []string // what the author said it comes to
}

// Names of files that mean something to a script.
const (
	mainFile   = "gslb.yaml"
	dropins    = "gslb.yaml.d/"
	geoFile    = "geo"
	scriptFile = "script"
)

// What the lines of a story begin with.
const (
	commandMark = "> "
	inputMark   = "|"
	outputMark  = "  "
)

// fault is a mistake in a script.
func fault(number int, format string, args ...any) error {
	return &Mistake{Line: number, Err: fmt.Errorf(format, args...)}
}

// parse takes a script apart.
func parse(text string) (*script, error) {
	s := &script{files: map[string]string{}}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	at, err := s.parseHead(lines)
	if err != nil {
		return nil, err
	}
	if _, ok := s.files[mainFile]; !ok {
		return nil, fmt.Errorf("there is no configuration: no file is named %s", mainFile)
	}
	s.geo = s.files[geoFile]
	delete(s.files, geoFile)
	s.head = lines[:at]
	return s, s.parseStory(lines, at)
}

// parseHead reads the comment and the files, and gives the index of the story's first line.
func (s *script) parseHead(lines []string) (int, error) {
	name, begin := "", 0
	for i, l := range lines {
		next, ok := fileName(l)
		switch {
		case ok:
			if name != "" {
				s.files[name] = fileText(lines[begin:i])
			}
			if name, begin = next, i+1; name == scriptFile {
				return begin, nil
			}
			if _, twice := s.files[name]; twice {
				return 0, fault(i+1, "there are two files named %s", name)
			}
		case name == "" && l != "" && !strings.HasPrefix(l, "#"):
			return 0, fault(i+1, "only comments, which begin with #, may come before the first file")
		}
	}
	return 0, fmt.Errorf("there is no story: no line is -- %s --", scriptFile)
}

// fileName reads the line that begins a file.
func fileName(l string) (string, bool) {
	name, ok := strings.CutPrefix(l, "-- ")
	if !ok {
		return "", false
	}
	if name, ok = strings.CutSuffix(name, " --"); !ok || strings.TrimSpace(name) != name || name == "" {
		return "", false
	}
	return name, true
}

func fileText(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// parseStory reads the commands from a line on.
func (s *script) parseStory(lines []string, at int) error {
	var last *step // to which input and output belong
	for i, l := range lines[at:] {
		number := at + i + 1
		switch {
		case strings.HasPrefix(l, commandMark):
			words, err := split(strings.TrimPrefix(l, commandMark))
			if err != nil {
				return fault(number, "%w", err)
			}
			last = &step{number: number, words: words}
			s.lines = append(s.lines, line{l, last})
		case l == "" || strings.HasPrefix(l, "#"):
			last = nil
			s.lines = append(s.lines, line{text: l})
		case strings.HasPrefix(l, inputMark) && last != nil && last.output == nil:
			last.input = append(last.input, l)
		case strings.HasPrefix(l, outputMark) && last != nil:
			last.output = append(last.output, l[len(outputMark):])
		case strings.HasPrefix(l, inputMark), strings.HasPrefix(l, outputMark):
			return fault(number, "there is no command right above to which this belongs")
		default:
			return fault(number, "a line begins with > for a command, | for its input, two spaces for what it came to, or # for a comment")
		}
	}
	return nil
}

// text is the input without its marks.
func (s *step) text() string {
	var b strings.Builder
	for _, l := range s.input {
		l = strings.TrimPrefix(l, inputMark)
		b.WriteString(strings.TrimPrefix(l, " ") + "\n")
	}
	return b.String()
}

// format writes the script, with what each step came to.
func (s *script) format(output func(*step) []string) string {
	lines := slices.Clone(s.head)
	for _, l := range s.lines {
		lines = append(lines, l.text)
		if l.step == nil {
			continue
		}
		lines = append(lines, l.step.input...)
		for _, o := range output(l.step) {
			lines = append(lines, outputMark+o)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// split takes a line apart into words, as a shell does: spaces part them, but not within double
// quotes, where a backslash makes the next character an ordinary one.
func split(l string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quoted, escaped := false, false, false
	for _, r := range l {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			in, quoted = true, !quoted
		case !quoted && (r == ' ' || r == '\t'):
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quotation does not end")
	}
	if in {
		words = append(words, word.String())
	}
	if words == nil {
		return nil, fmt.Errorf("the line is empty")
	}
	return words, nil
}
