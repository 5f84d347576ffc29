package health

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
)

// answerMax is how many bytes of what an endpoint says are searched.
const answerMax = 64 << 10

// Text is what an answer must hold to be a healthy one, within its first 64 KB. The zero value is
// satisfied with anything.
type Text struct {
	Plain string // a text that the answer holds; empty: any
	Regex string // an expression (RE2) that matches somewhere in it; empty: any
}

// Wants reports whether the answer is to be read at all.
func (t Text) Wants() bool { return t != Text{} }

// lacking is the words for an answer that should have held the text.
func (t Text) lacking(what string) error {
	if t.Plain != "" {
		return fault(fmt.Sprintf("%s lacks %s", what, quoted(t.Plain)))
	}
	return fault(fmt.Sprintf("%s does not match %s", what, quoted(t.Regex)))
}

// search reads until the text has been seen, and no further. What ends before, or is longer than what is
// searched, lacks it. A read error is given as it is. Whole says that an expression is to be
// matched against all of the answer, not against the part that came first.
func (t Text) search(answer io.Reader, what string, whole bool) error {
	m, err := t.matcher()
	if err != nil {
		return err
	}
	seen := make([]byte, 0, 512) // pages made for probes are short
	for len(seen) < answerMax {
		if len(seen) == cap(seen) {
			seen = append(seen, 0)[:len(seen)]
		}
		n, err := answer.Read(seen[len(seen):min(cap(seen), answerMax)])
		seen = seen[:len(seen)+n]
		done := err == io.EOF || len(seen) == answerMax
		if m.holds(seen, n, whole, done) {
			return nil
		}
		if done {
			break
		}
		if err != nil {
			return err
		}
	}
	return m.lacking(what)
}

// matcher looks for a text in an answer that grows.
type matcher struct {
	Text
	found  bool // the plain text
	regex  *regexp.Regexp
	budget int // bytes that the expression may still be tried on before the end
}

// tried bounds the work that an endpoint can cause which sends its answer byte by byte.
const tried = 32 * answerMax

func (t Text) matcher() (*matcher, error) {
	m := &matcher{Text: t, budget: tried}
	if t.Regex == "" {
		return m, nil
	}
	var err error
	if m.regex, err = regexp.Compile(t.Regex); err != nil {
		return nil, fault("the regex of the check is not one")
	}
	return m, nil
}

// holds tells whether what was seen, of which n bytes are new, is enough.
func (m *matcher) holds(seen []byte, n int, whole, done bool) bool {
	from := max(0, len(seen)-n-len(m.Plain)) // a text may lie across the edge of two reads
	m.found = m.found || bytes.Contains(seen[from:], []byte(m.Plain))
	if !m.found || m.regex == nil {
		return m.found
	}
	if m.budget -= len(seen); !done && (whole || m.budget < 0) {
		return false
	}
	return m.regex.Match(seen)
}

// lacking says which of the two was not there.
func (m *matcher) lacking(what string) error {
	if m.found {
		return Text{Regex: m.Regex}.lacking(what)
	}
	return m.Text.lacking(what)
}
