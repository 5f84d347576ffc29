package zone

import (
	"fmt"
	"strings"
)

// mark is a place in a text, both numbers from 1; the zero value is none.
type mark struct{ line, column int }

// entry is one entry of a master file: a record or a directive, over as many lines as its parentheses
// and quotes span (RFC 1035 section 5.1).
type entry struct {
	text string // from the start of its first line, always with a final newline
	mark        // of its first word; the zero value in a blank or comment line

	start int // offset of text in the whole
	// torn is the offset in text after the first newline that stands inside quotes, and tornAt the
	// quote before it. Such text is allowed, and yet a forgotten quote is the likelier reason.
	torn   int
	tornAt mark
	// fault is a mistake that the entry cannot be read with. When something was opened, at faultAt,
	// and never closed, text is the whole rest.
	fault   string
	faultAt mark
}

// entries cuts a text into entries, by the same rules as the record parser, so that every record is
// parsed alone: its line is known, and a mistake in it cannot reach into the next.
type entries struct {
	text string
	at   int // offset of the next entry: always at the start of a line
	line int // number of that line
}

// next returns the next entry that says something.
func (s *entries) next() (entry, bool) {
	for s.at < len(s.text) {
		if e, ok := s.oneLine(); ok {
			return e, true
		}
		if e := s.cut(); e.line > 0 {
			return e, true
		}
	}
	return entry{}, false
}

// oneLine takes an entry of the commonest kind off the text: a line that begins with a word, and in which nothing is
// opened or escaped.
func (s *entries) oneLine() (entry, bool) {
	end := strings.IndexByte(s.text[s.at:], '\n') + 1
	line := s.text[s.at : s.at+end]
	if end == 0 || strings.IndexByte(" \t\r\n;", line[0]) >= 0 || strings.ContainsAny(line, "\"()\\") {
		return entry{}, false
	}
	e := entry{text: line, mark: mark{s.line, 1}, start: s.at}
	s.at, s.line = s.at+end, s.line+1
	return e, true
}

// cut takes one entry, or one line that says nothing, off the text.
func (s *entries) cut() entry {
	c := cutter{entry: entry{start: s.at}, place: mark{line: s.line}}
	i, done := s.at, false
	for ; i < len(s.text) && i-s.at < maxEntry && !done; i++ {
		done = c.step(s.text[i], i+1-s.at)
		if c.escaped {
			c.escape(s.text[i:])
		}
	}
	e := c.entry
	e.text = s.text[s.at:i]
	if !strings.HasSuffix(e.text, "\n") {
		e.text += "\n"
	}
	s.at, s.line = i, c.place.line
	long := !done && i < len(s.text)
	if long {
		s.skipLine()
	}
	switch {
	case c.quoted:
		e.fault, e.faultAt = "this quote is never closed", c.quote
		if e.torn > 0 {
			e.faultAt = e.tornAt
			s.resumeTorn(e)
		}
	case c.depth > 0:
		e.fault, e.faultAt = "this parenthesis is never closed", c.open
		s.resumeOpen(e)
	case long && e.line > 0:
		e.fault, e.faultAt = fmt.Sprintf("this entry is over %d MiB long", maxEntry>>20), e.mark
	}
	return e
}

// skipLine goes on after the line.
func (s *entries) skipLine() {
	width := strings.IndexByte(s.text[s.at:], '\n')
	if width < 0 {
		s.at = len(s.text)
		return
	}
	s.at, s.line = s.at+width+1, s.line+1
}

// resumeTorn goes on after the line of an entry whose quoted text spans lines.
func (s *entries) resumeTorn(e entry) {
	s.at, s.line = e.start+e.torn, e.tornAt.line+1
}

// resumeOpen goes on at the first line after an unclosed parenthesis that does not look like a part
// of the same record: those are indented.
func (s *entries) resumeOpen(e entry) {
	at, line := e.start, e.line
	for at < len(s.text) {
		if line > e.faultAt.line && !strings.ContainsRune(" \t\r\n;)", rune(s.text[at])) {
			break
		}
		width := strings.IndexByte(s.text[at:], '\n')
		if width < 0 {
			at = len(s.text)
			break
		}
		at, line = at+width+1, line+1
	}
	s.at, s.line = at, line
}

// cutter is the state of reading one entry.
type cutter struct {
	entry
	place                    mark // of the current byte
	depth                    int  // open parentheses
	open                     mark // the outermost open parenthesis
	quote                    mark // the last opening quote
	quoted, comment, escaped bool
}

// step reads one byte, which ends at offset end of the entry, and reports whether it is the entry's
// last.
func (c *cutter) step(b byte, end int) (done bool) {
	c.place.column++
	if b == '\n' {
		return c.newline(end)
	}
	if c.comment {
		return false
	}
	if c.escaped {
		c.escaped = false
		return false
	}
	switch {
	case b == '\\':
		c.word()
		c.escaped = true
	case b == '"':
		c.word()
		c.quoted = !c.quoted
		c.quote = c.place
	case c.quoted:
	case b == ';':
		c.comment = true
	case b == '(':
		c.word()
		if c.depth++; c.depth == 1 {
			c.open = c.place
		}
	case b == ')':
		c.word()
		c.depth = max(c.depth-1, 0)
	case b != ' ' && b != '\t' && b != '\r':
		c.word()
	}
	return false
}

// newline ends a line, and the entry unless something is still open.
func (c *cutter) newline(end int) (done bool) {
	c.comment, c.escaped = false, false
	if c.quoted && c.torn == 0 {
		c.torn, c.tornAt = end, c.quote
	}
	c.place = mark{line: c.place.line + 1}
	return !c.quoted && c.depth == 0
}

// escape checks the escape that s begins with: the record parser takes "\300" for something else.
func (c *cutter) escape(s string) {
	if _, _, err := unescape(s); err != nil && c.fault == "" {
		c.fault, c.faultAt = err.Error(), c.place
	}
}

// word notes where the entry begins.
func (c *cutter) word() {
	if c.line == 0 {
		c.mark = c.place
	}
}

// word is a part of an entry between blanks and where it stands in the entry's text.
type word struct {
	text  string
	start int
}

// words cuts an entry at its blanks and quotes, up to most words, without comments and parentheses. What is quoted is one word,
// with its quotes. It is for directives and the records of [formed]; other records are the record parser's.
func (e entry) words(most int) []word {
	var found []word
	var escaped, comment, quoted bool
	start := -1
	end := func(i int) {
		if start >= 0 {
			found = append(found, word{e.text[start:i], start})
		}
		start = -1
	}
	for i := 0; i < len(e.text) && len(found) < most; i++ {
		b := e.text[i]
		plain := !escaped && !comment
		escaped = plain && b == '\\' && !comment
		switch {
		case comment:
			comment = b != '\n'
		case quoted && plain && b == '"':
			end(i + 1)
			quoted = false
		case quoted:
		case plain && b == '"':
			end(i)
			start, quoted = i, true
		case plain && strings.IndexByte(" \t\r\n();", b) >= 0:
			end(i)
			comment = b == ';'
		case start < 0:
			start = i
		}
	}
	return found
}
