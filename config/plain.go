package config

// plainDepth bounds the nesting that is read without the parser.
const plainDepth = 8

// plainReader reads the YAML that large configurations are made of, without a parser: mappings by indent, mappings and
// lists in brackets within a line, and words, numbers and simple quotes. It gives the tree that the parser would, or none:
// what is not plain is left to the parser, which also says what is wrong. The texts of the tree are parts of its text.
type plainReader struct {
	text   string
	file   *string
	above  int // lines of the file above the text
	at     int // the byte that comes next
	line   int // its line, from 0
	start  int // where that line begins
	indent int // of the line, when at stands at its first key; -1: the text has ended
	spare  []node
	links  []*node // not in use yet: the children of nodes
	open   []*node // children of the mappings and lists that are being read
}

// plainTree reads a text, and tells whether it is all plain.
func plainTree(file *string, text string, above int) (*node, bool) {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' {
			return nil, false
		}
	}
	p := &plainReader{text: text, file: file, above: above}
	root := &node{file: file, key: spot{1, 1}, at: spot{1, 1}}
	if p.line--; !p.next() || p.indent != 0 || !p.block(root, 0) {
		return nil, false
	}
	return root, p.indent < 0
}

// next goes to the first key of the next line that says something, and tells whether there is one.
func (p *plainReader) next() bool {
	for p.at < len(p.text) {
		p.line, p.start = p.line+1, p.at
		p.spaces()
		if p.indent = p.at - p.start; p.at < len(p.text) && p.text[p.at] != '#' && p.text[p.at] != '\n' {
			return true
		}
		p.skipLine()
	}
	p.indent = -1
	return false
}

func (p *plainReader) spaces() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *plainReader) skipLine() {
	for p.at < len(p.text) && p.text[p.at] != '\n' {
		p.at++
	}
	p.at = min(p.at+1, len(p.text))
}

// ended goes on to the next line, and tells whether nothing but a comment was left of this one.
func (p *plainReader) ended() bool {
	from := p.at
	p.spaces()
	if p.at < len(p.text) && p.text[p.at] != '\n' && (p.text[p.at] != '#' || p.at == from) {
		return false
	}
	p.skipLine()
	p.next()
	return true
}

// is tells whether a byte comes next, and goes past it.
func (p *plainReader) is(c byte) bool {
	if p.at == len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *plainReader) spot() spot {
	return spot{uint32(p.line + 1 + p.above), uint32(p.at - p.start + 1)}
}

// block reads a mapping by indent, from its first key on.
func (p *plainReader) block(n *node, depth int) bool {
	n.shape, n.at = isMapping, p.spot()
	indent, mine := p.indent, len(p.open)
	for p.indent == indent {
		if !p.key(n) || !p.blockValue(p.open[len(p.open)-1], indent, depth) {
			return false
		}
	}
	p.close(n, mine)
	return p.indent < indent && n.distinct()
}

// blockValue reads what stands behind a key and its colon: the rest of the line, or the mapping below it.
func (p *plainReader) blockValue(n *node, indent, depth int) bool {
	from := p.at
	if p.spaces(); p.at < len(p.text) && p.text[p.at] != '\n' && p.text[p.at] != '#' {
		return p.at > from && p.value(n, depth) && p.ended() && p.indent <= indent
	}
	p.at = from
	return p.ended() && p.indent > indent && depth < plainDepth && p.block(n, depth+1)
}

// key reads a key and its colon, and opens a child for it.
func (p *plainReader) key(parent *node) bool {
	const longest = 256
	c := p.child(parent)
	from, sound := p.at, true
	if p.is('"') {
		c.name, sound = p.quoted()
	} else {
		c.name = p.word(false)
		sound = c.name != ""
	}
	return sound && p.at-from < longest && p.is(':')
}

// value reads a value that ends in its line.
func (p *plainReader) value(n *node, depth int) bool {
	n.at = p.spot()
	switch {
	case p.is('{'):
		return depth < plainDepth && p.inBraces(n, depth+1)
	case p.is('['):
		return depth < plainDepth && p.inBrackets(n, depth+1)
	case p.is('"'):
		n.shape = isText
		text, ok := p.quoted()
		n.text = text
		return ok
	}
	n.text = p.word(true)
	n.shape = plainShape(n.text)
	return n.shape != unread
}

// inBraces reads a mapping behind its brace.
func (p *plainReader) inBraces(n *node, depth int) bool {
	n.shape = isMapping
	mine := len(p.open)
	if p.spaces(); p.is('}') {
		return true
	}
	for {
		if p.spaces(); !p.key(n) || !p.is(' ') {
			return false
		}
		if p.spaces(); !p.value(p.open[len(p.open)-1], depth) {
			return false
		}
		if p.spaces(); p.is('}') {
			p.close(n, mine)
			return n.distinct()
		}
		if !p.is(',') {
			return false
		}
	}
}

// inBrackets reads a list behind its bracket.
func (p *plainReader) inBrackets(n *node, depth int) bool {
	n.shape = isList
	mine := len(p.open)
	if p.spaces(); p.is(']') {
		return true
	}
	for {
		p.spaces()
		c := p.child(n)
		c.item = int32(len(p.open) - mine - 1)
		if !p.value(c, depth) {
			return false
		}
		if p.spaces(); p.is(']') {
			p.close(n, mine)
			return true
		}
		if !p.is(',') {
			return false
		}
	}
}

// quoted reads the rest of a text in quotes, and tells whether that is plain.
func (p *plainReader) quoted() (string, bool) {
	for end := p.at; end < len(p.text); end++ {
		switch p.text[end] {
		case '"':
			text := p.text[p.at:end]
			p.at = end + 1
			return text, true
		case '\\', '\n':
			return "", false
		}
	}
	return "", false
}

// word reads a plain word: letters, digits and a few signs that mean nothing to YAML inside one. In a value a colon is one
// of them, before a letter, a digit or another colon.
func (p *plainReader) word(value bool) string {
	from := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case isAlphanumeric(c) || c == '_':
		case p.at == from && c != '/':
			if c != '-' || p.at+1 == len(p.text) || p.text[p.at+1] < '0' || p.text[p.at+1] > '9' {
				return ""
			}
		case c == '-' || c == '.' || c == '/' || c == '%' || c == '+':
		case value && c == ':' && p.at+1 < len(p.text) && (isAlphanumeric(p.text[p.at+1]) || p.text[p.at+1] == ':'):
		default:
			return p.text[from:p.at]
		}
	}
	return p.text[from:]
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// child opens a child of a node.
func (p *plainReader) child(parent *node) *node {
	const many = 256
	if len(p.spare) == 0 {
		p.spare = make([]node, many)
	}
	c := &p.spare[0]
	p.spare = p.spare[1:]
	c.parent, c.file, c.key = parent, p.file, p.spot()
	p.open = append(p.open, c)
	return c
}

// close gives a node its children: those that were opened since there were so many.
func (p *plainReader) close(n *node, before int) {
	const many = 1024
	children := p.open[before:]
	if len(p.links) < len(children) {
		p.links = make([]*node, max(many, len(children)))
	}
	n.children = p.links[:len(children):len(children)]
	p.links = p.links[len(children):]
	copy(n.children, children)
	clear(children)
	p.open = p.open[:before]
}

// plainShape tells what the parser takes a word for; unread: that is for the parser to say.
func plainShape(word string) shape {
	switch word {
	case "", "null", "Null", "NULL":
		return unread
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return isBoolean
	}
	if c := word[0]; c != '-' && (c < '0' || c > '9') {
		return isText
	}
	return numberShape(word)
}

// numberShape is plainShape for a word that begins as a number does.
func numberShape(word string) shape {
	digits := word
	if word[0] == '-' {
		digits = word[1:]
	}
	dots, dashes, other := 0, 0, false
	for i := range len(digits) {
		switch c := digits[i]; {
		case '0' <= c && c <= '9':
		case c == '.':
			dots++
		case c == '-':
			dashes++
		case c == '/' || c == ':' || c == '%' || 'g' <= c && c <= 'w' && c != 'i' && c != 'n' && c != 'o' && c != 'p':
			return isText // no number has these
		default:
			other = true
		}
	}
	const surely = 18 // digits that fit
	switch {
	case other || len(digits) > surely && dots < 2 && dashes == 0 || digits[len(digits)-1] == '.' && dots == 1:
		return unread
	case dots > 1 || dashes > 0: // an exponent has a letter before its dash
		return isText
	case dots == 1:
		return isDecimal
	case digits[0] == '0' && len(digits) > 1:
		return unread
	}
	return isInteger
}
